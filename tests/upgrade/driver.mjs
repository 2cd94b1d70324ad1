// Runs machines under XState 4 or 5 and prints what happened, one JSON line per line read.
// In: {"version": 4|5, "machine": {...}, "steps": [{"event": {...}} | {"advance": ms}]}
// Out: {"lines": [{"value", "context", "done", "trace"}]} or {"error": "..."}
import { createInterface } from "node:readline";
import { createMachine as create4, interpret, assign as assign4 } from "xstate";
import { SimulatedClock as Clock4 } from "xstate/lib/SimulatedClock.js";
import * as v5 from "xstate5";

const tick = async () => {
  for (let i = 0; i < 20; i++) await Promise.resolve();
};

const GUARDS = {
  yes: () => true,
  no: () => false,
  odd: (context) => (context?.n ?? 0) % 2 === 1,
  below: (context, params) => (context?.n ?? 0) < params.max,
  is: (_context, params, event) => event.v === params.v,
};
const guardOf = (name) => {
  if (!(name in GUARDS)) throw new Error(`no guard ${name}`);
  return GUARDS[name];
};
const text = (name, params) =>
  params && Object.keys(params).length ? `${name}${JSON.stringify(params)}` : name;
const named = (lookup) => new Proxy({}, { get: (_t, name) => (typeof name === "string" ? lookup(name) : undefined), has: () => true });
const DELAYS = { short: 5, long: 50 };

function run4(config, trace) {
  const start = (name) => (trace.push(`start ${name}`), () => trace.push(`stop ${name}`));
  const actions = named((name) => {
    if (name === "inc") return assign4({ n: (context) => context.n + 1 });
    if (name.startsWith("xstate.")) return undefined;
    if (name === "payload") return (_c, event) => trace.push(`payload ${JSON.stringify(event.data ?? null)}`);
    return (_context, _event, { action }) => {
      const { type, exec, ...rest } = action;
      trace.push(text(name, rest.params && Object.keys(rest).length === 1 ? rest.params : rest));
    };
  });
  const guards = named((name) => (context, event, { cond }) => {
    const { type, name: _n, predicate, ...rest } = cond;
    return guardOf(name)(context, rest.params ?? rest, event);
  });
  const services = named((name) => {
    if (name === "resolves") return () => Promise.resolve(7);
    if (name === "rejects") return () => Promise.reject("no");
    return (_context, _event, { data, src }) => () => {
      const { type, ...rest } = typeof src === "string" ? {} : src;
      return start(text(name, { ...rest, ...data }));
    };
  });
  const activities = named((name) => () => start(name));
  const clock = new Clock4();
  const machine = create4(config, { actions, guards, services, activities, delays: DELAYS });
  const service = interpret(machine, { clock, deferEvents: true });
  service.onTransition(() => {});
  return {
    start: () => service.start(),
    send: (event) => service.send(event),
    advance: (ms) => clock.increment(ms),
    look: () => {
      const state = service.getSnapshot();
      return { value: state.value, context: state.context ?? {}, done: !!state.done };
    },
  };
}

function withGuards(value) {
  if (Array.isArray(value)) return value.map(withGuards);
  if (!value || typeof value !== "object") return value;
  const made = {};
  for (const [key, part] of Object.entries(value)) {
    made[key] = key === "guard" ? guard5(part) : key === "context" ? part : withGuards(part);
  }
  return made;
}

function guard5(guard) {
  if (!guard || typeof guard !== "object") return guard;
  if (guard.type === "xstate.and") return v5.and(guard.params.guards.map(guard5));
  if (guard.type === "xstate.stateIn") return v5.stateIn(guard.params.state);
  return guard;
}

function run5(config, trace) {
  const delay = (value) => (typeof value === "string" ? DELAYS[value] : value);
  const builtins = {
    "xstate.raise": v5.enqueueActions(({ enqueue }, p) => enqueue.raise(p.event, { id: p.id, delay: delay(p.delay) })),
    "xstate.sendTo": v5.enqueueActions(({ enqueue }, p) => enqueue.sendTo(p.to, p.event, { id: p.id, delay: delay(p.delay) })),
    "xstate.cancel": v5.enqueueActions(({ enqueue }, p) => enqueue.cancel(p.id)),
    "xstate.assign": v5.assign((_, p) => p.assignments),
    "xstate.stopChild": v5.enqueueActions(({ enqueue }, p) => enqueue.stopChild(p.id)),
  };
  const actions = named((name) => {
    if (name in builtins) return builtins[name];
    if (name === "inc") return v5.assign({ n: ({ context }) => context.n + 1 });
    if (name === "payload") return ({ event }) => trace.push(`payload ${JSON.stringify(event.output ?? event.error ?? null)}`);
    return (_args, params) => trace.push(text(name, params));
  });
  const guards = named((name) => ({ context, event }, params) => guardOf(name)(context, params, event));
  const actors = named((name) => {
    if (name === "resolves") return v5.fromPromise(() => Promise.resolve(7));
    if (name === "rejects") return v5.fromPromise(() => Promise.reject("no"));
    return v5.fromCallback(({ input }) => {
      const label = text(name, input);
      trace.push(`start ${label}`);
      return () => trace.push(`stop ${label}`);
    });
  });
  const clock = new v5.SimulatedClock();
  const machine = v5.createMachine({ options: { maxIterations: 500 }, ...withGuards(config) }, { actions, guards, actors, delays: DELAYS });
  const actor = v5.createActor(machine, { clock });
  let failed;
  actor.subscribe({ error: (error) => (failed = error) });
  return {
    start: () => actor.start(),
    send: (event) => actor.send(event),
    advance: (ms) => clock.increment(ms),
    look: () => {
      if (failed) throw failed;
      const state = actor.getSnapshot();
      return { value: state.value, context: state.context, done: state.status === "done" };
    },
  };
}

async function run({ version, machine, steps }) {
  const trace = [];
  const lines = [];
  const actor = (version === 4 ? run4 : run5)(machine, trace);
  const look = () => lines.push({ ...actor.look(), trace: trace.splice(0) });
  actor.start();
  await tick();
  look();
  for (const step of steps) {
    if ("advance" in step) {
      // one at a time: both simulated clocks treat timers that fall due together in ways of their own
      for (let i = 0; i < step.advance; i++) (actor.advance(1), await tick());
    }
    else actor.send(step.event);
    await tick();
    look();
  }
  return { lines };
}

console.warn = console.error = () => {};
process.on("uncaughtException", () => {});
process.on("unhandledRejection", () => {});
for await (const line of createInterface({ input: process.stdin })) {
  let result;
  try {
    result = await run(JSON.parse(line));
  } catch (error) {
    result = { error: String(error?.message ?? error) };
  }
  console.log(JSON.stringify(result));
}
