// Persisted snapshot, JSON text, restored snapshot. `restored` stops where the actor has its snapshot
// again; `started` also starts it, which is what our `simulate` does.
import { createActor } from 'xstate';
import { machineOf } from './events.mjs';
import { chartOf, repeat } from './measuring.mjs';

const EVENT = { b: 'T', d100: 'GO' };

export async function measureSnapshots(task) {
  const machine = machineOf(chartOf(task).config);
  const actor = createActor(machine).start();
  actor.send({ type: EVENT[task.chart] });
  const restored = () => {
    const text = JSON.stringify(actor.getPersistedSnapshot());
    return createActor(machine, { snapshot: JSON.parse(text) });
  };
  const roundTrip = task.mode === 'started' ? () => restored().start() : restored;
  const back = roundTrip().getSnapshot();
  const same = JSON.stringify([back.value, back.context]);
  const now = actor.getSnapshot();
  if (same !== JSON.stringify([now.value, now.context])) throw new Error('what came back is not what was saved');
  const run = () => {
    for (let trip = 0; trip < task.trips; trip += 1) roundTrip().getSnapshot();
  };
  return { samples: await repeat(task, run, task.trips) };
}
