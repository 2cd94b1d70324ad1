// `createMachine` builds the tree and resolves every target, but looks at no name of a guard, action
// or actor and checks nothing else; `initialTransition` then computes the first snapshot.
import { createMachine, initialTransition } from 'xstate';
import { chartOf, cpuTime } from './measuring.mjs';

const BUILDS_BEFORE = 1;
const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

/** Milliseconds of CPU: `samples` for the build alone, `ready` with the first snapshot as well. */
export async function measureBuild(task) {
  const { config } = chartOf(task);
  const built = [];
  const ready = [];
  for (let round = 0; round < BUILDS_BEFORE + task.repetitions; round += 1) {
    const given = structuredClone(config);
    const before = cpuTime();
    const machine = createMachine(given);
    const loaded = cpuTime();
    initialTransition(machine);
    built.push((loaded - before) / 1e3);
    ready.push((cpuTime() - before) / 1e3);
  }
  return { samples: built.slice(BUILDS_BEFORE), ready: median(ready.slice(BUILDS_BEFORE)) };
}
