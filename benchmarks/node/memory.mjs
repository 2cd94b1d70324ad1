// Bytes of heap that one started actor of chart (b) keeps alive, after one event. Needs --expose-gc.
import { createActor } from 'xstate';
import { machineOf } from './events.mjs';
import { chartOf } from './measuring.mjs';

function heap() {
  globalThis.gc();
  globalThis.gc();
  return process.memoryUsage().heapUsed;
}

export async function measureMemory(task) {
  const machine = machineOf(chartOf(task).config);
  const make = () => {
    const actor = createActor(machine).start();
    actor.send({ type: 'T' });
    return actor;
  };
  for (let index = 0; index < 100; index += 1) make();
  const kept = new Array(task.instances).fill(null);
  const before = heap();
  for (let index = 0; index < kept.length; index += 1) kept[index] = make();
  const bytes = (heap() - before) / kept.length;
  return { samples: [bytes], last: kept.at(-1).getSnapshot().value };
}
