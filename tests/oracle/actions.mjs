// Actions that a case may call by name. `host.record(actor, text)` writes to the trace.
import { assign, enqueueActions } from 'xstate';
import { compileGuard } from './config.mjs';
import { fill, isRecord, isTemplate, lookUp, toEvent, toList } from './values.mjs';

const filled = (value, args) => (isTemplate(value) ? fill(value, args) : value);

// ------------------------------------------------------------ context updates
const update = (change) => assign((args, params) => change(args, params ?? {}));

const newItem = (args, params) =>
  params.from !== undefined ? lookUp(args.event, params.from) : filled(params.value, args);

/** The wording is part of the protocol: it is what V8 says in the reference implementation. */
function oldItems({ context }, { key }) {
  const items = context[key] ?? [];
  if (items[Symbol.iterator] === undefined) throw new TypeError('(a.context[p.key] ?? []) is not iterable');
  return [...items];
}

const UPDATES = {
  inc: ({ context }, { key, by }) => ({ [key]: (context[key] ?? 0) + (by ?? 1) }),
  set: (args, { key, value }) => ({ [key]: filled(value, args) }),
  setFromEvent: ({ event }, { key, from }) => ({ [key]: lookUp(event, from ?? key) }),
  append: (args, params) => ({ [params.key]: [...oldItems(args, params), newItem(args, params)] }),
  toggle: ({ context }, { key }) => ({ [key]: !context[key] }),
  throwAssign: (_args, { message }) => {
    throw new Error(message ?? 'assign failed');
  },
  'xstate.assign': (args, params) => fill(params.assignments ?? params.assignment ?? params, args)
};

// ------------------------------------------------- effects that XState defers
function eventOf(args, params) {
  const event = { ...toEvent(params.event) };
  for (const [field, path] of Object.entries(params.ctxKeys ?? {})) event[field] = lookUp(args.context, path);
  for (const [field, path] of Object.entries(params.evtKeys ?? {})) event[field] = lookUp(args.event, path);
  return filled(event, args);
}

function actorOf(args, to) {
  if (to === undefined || to === 'self' || to === '#_internal') return args.self;
  if (!isRecord(to)) return to;
  if ('system' in to) return args.system.get(to.system);
  return '$ctx' in to ? lookUp(args.context, to.$ctx) : to;
}

const given = (params, keys) =>
  Object.fromEntries(keys.filter((key) => params[key] !== undefined).map((key) => [key, params[key]]));

const sending = (params) => given(params, ['id', 'delay']);

function spawning(args, params) {
  const options = given(params, ['id', 'systemId', 'syncSnapshot']);
  if (params.input !== undefined) options.input = filled(params.input, args);
  return options;
}

function spawn(args, params) {
  const { src, ctxKey } = params;
  if (ctxKey === undefined) args.enqueue.spawnChild(src, spawning(args, params));
  else args.enqueue.assign(({ spawn: create }) => ({ [ctxKey]: create(src, spawning(args, params)) }));
}

function choose(args, params) {
  for (const branch of params.branches ?? []) {
    if (branch.guard !== undefined && !args.check(compileGuard(branch.guard))) continue;
    toList(branch.actions).forEach((action) => args.enqueue(action));
    return;
  }
}

const COMMANDS = {
  raise: (args, params) => args.enqueue.raise(eventOf(args, params), sending(params)),
  sendTo: (args, params) =>
    args.enqueue.sendTo(actorOf(args, params.to ?? params.actorRef), eventOf(args, params), sending(params)),
  sendParent: (args, params) => args.enqueue.sendParent(eventOf(args, params), sending(params)),
  forwardTo: (args, params) => args.enqueue.sendTo(actorOf(args, params.to), args.event, sending(params)),
  emit: (args, params) => args.enqueue.emit(eventOf(args, params)),
  cancel: (args, params) => args.enqueue.cancel(params.id ?? params.sendId),
  stopChild: (args, { id }) => args.enqueue.stopChild(isRecord(id) ? actorOf(args, id) : id),
  spawn,
  choose
};
const STATELY_NAMES = {
  'xstate.raise': 'raise',
  'xstate.sendTo': 'sendTo',
  'xstate.sendParent': 'sendParent',
  'xstate.emit': 'emit',
  'xstate.cancel': 'cancel',
  'xstate.stopChild': 'stopChild',
  'xstate.spawnChild': 'spawn'
};

// --------------------------------------------------------------- custom actions
const asText = (value) => JSON.stringify(value ?? null);

function logText({ context, event }, params) {
  const { label, ctx, evt } = params ?? {};
  const parts = [String(label ?? '')];
  if (ctx !== undefined) parts.push(`[${ctx}=${asText(lookUp(context, ctx))}]`);
  if (evt === true) parts.push(`[${event.type}]`);
  else if (evt) parts.push(`[${evt}=${asText(lookUp(event, evt))}]`);
  return parts.join('');
}

const customActions = (host) => ({
  log: (args, params) => host.record(args.self, logText(args, params)),
  'xstate.log': ({ self }, params) => host.record(self, String(params?.message ?? '')),
  throw: (_args, params) => {
    throw new Error(params?.message ?? 'action failed');
  }
});

/** Every name is an action: those nobody defined record themselves (unless the case forbids it). */
export function actionsFor(spec, host) {
  const known = customActions(host);
  for (const [name, change] of Object.entries(UPDATES)) known[name] = update(change);
  for (const [name, run] of Object.entries(COMMANDS)) {
    known[name] = enqueueActions((args, params) => run(args, params ?? {}));
  }
  for (const [name, plain] of Object.entries(STATELY_NAMES)) known[name] = known[plain];
  for (const [name, list] of Object.entries(spec.actions ?? {})) {
    known[name] = enqueueActions(({ enqueue }) => toList(list).forEach((action) => enqueue(action)));
  }
  const selfRecording = (name) => ({ self }, params) =>
    host.record(self, params === undefined ? name : `${name}(${JSON.stringify(params)})`);
  return new Proxy(known, {
    get(target, name) {
      if (typeof name !== 'string' || Object.hasOwn(target, name)) return target[name];
      return spec.strictActions ? undefined : selfRecording(name);
    }
  });
}
