// Persisted snapshot, JSON text, restored snapshot. `restored` stops where the actor has its snapshot
// again; `started` also starts it, which is what our `simulate` does; `bare` makes no actor.
import { createActor } from 'xstate';
import { machineOf } from './events.mjs';
import { chartOf, repeat } from './measuring.mjs';

const EVENT = { b: 'T', d100: 'GO' };

export async function measureSnapshots(task) {
  const machine = machineOf(chartOf(task).config);
  const actor = createActor(machine).start();
  actor.send({ type: EVENT[task.chart] });
  const now = actor.getSnapshot();
  const restored = () => {
    const text = JSON.stringify(actor.getPersistedSnapshot());
    return createActor(machine, { snapshot: JSON.parse(text) });
  };
  // restoring without an actor wants to know of one all the same, for children; there are none
  const scope = { self: actor, system: actor.system, logger: () => {}, id: actor.id, sessionId: actor.sessionId };
  const bare = () => machine.restoreSnapshot(JSON.parse(JSON.stringify(machine.getPersistedSnapshot(now))), scope);
  const roundTrip = {
    restored: () => restored().getSnapshot(),
    started: () => restored().start().getSnapshot(),
    bare,
  }[task.mode];
  const back = roundTrip();
  const same = JSON.stringify([back.value, back.context]);
  if (same !== JSON.stringify([now.value, now.context])) throw new Error('what came back is not what was saved');
  const run = () => {
    for (let trip = 0; trip < task.trips; trip += 1) roundTrip();
  };
  return { samples: await repeat(task, run, task.trips) };
}
