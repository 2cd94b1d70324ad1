// XState's two ways to handle an event: `actor.send` on a started actor, and pure `transition()`.
import { SimulatedClock, assign, createActor, initialTransition, setup, transition } from 'xstate';
import { chartOf, leaves, repeat } from './measuring.mjs';

/** The functions of charts (b) and (j) are named in the JSON and given to `setup`, as the documentation has it. */
export const machineOf = (config) =>
  setup({
    guards: { isOpen: ({ context }) => context.n >= 0 },
    actions: { increment: assign({ n: ({ context }) => context.n + 1 }), note: () => {} }
  }).createMachine(config);

function sending(config) {
  const actor = createActor(machineOf(config), { clock: new SimulatedClock() }).start();
  const run = (events) => {
    for (const event of events) actor.send(event);
  };
  return { run, snapshot: () => actor.getSnapshot() };
}

function pure(config) {
  const machine = machineOf(config);
  let [now] = initialTransition(machine);
  const run = (events) => {
    let snapshot = now;
    for (const event of events) [snapshot] = transition(machine, snapshot, event);
    now = snapshot;
  };
  return { run, snapshot: () => now };
}

const MODES = { send: sending, transition: pure };

export async function measureEvents(task) {
  const { config, events: types } = chartOf(task);
  const events = types.map((type) => ({ type }));
  const make = MODES[task.mode];
  const checked = make(config);
  const trail = [];
  const look = () => trail.push(leaves(checked.snapshot().value));
  for (const event of events.slice(0, task.trail)) {
    checked.run([event]);
    look();
  }
  checked.run(events.slice(task.trail));
  look();
  const driven = make(config);
  const samples = await repeat(task, () => driven.run(events), events.length);
  return { samples, trail, context: checked.snapshot().context, events: events.length };
}
