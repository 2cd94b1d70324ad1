// What drivers/measuring.py does, for Node: check, warm up, repeat.
import { readFileSync } from 'node:fs';

export const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'));

export const chartOf = (task) => readJson(task.charts)[task.chart];

/** Microseconds of CPU so far: all threads of this process, V8's helpers among them. */
export function cpuTime() {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** Microseconds of CPU per unit of work for each repetition of `run`, which does `count` units. */
export async function repeat(task, run, count) {
  const started = cpuTime();
  while (cpuTime() - started < task.warmup * 1e6) await run();
  const samples = [];
  for (let round = 0; round < task.repetitions; round += 1) {
    const before = cpuTime();
    await run();
    samples.push((cpuTime() - before) / count);
  }
  return samples;
}

/** Paths of the active leaves below the root, sorted. */
export function leaves(value, path = '') {
  if (typeof value === 'string') return [path + value];
  return Object.entries(value)
    .flatMap(([key, inner]) => (isEmpty(inner) ? [path + key] : leaves(inner, `${path}${key}.`)))
    .sort();
}

const isEmpty = (value) => typeof value === 'object' && Object.keys(value).length === 0;
