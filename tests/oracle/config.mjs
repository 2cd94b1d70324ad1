// From machine JSON to the config that createMachine takes: the parts that XState
// knows only as functions (guard combinators, computed outputs and inputs) are put in.
import { and, not, or, stateIn } from 'xstate';
import { fill, isRecord, isTemplate, lazily } from './values.mjs';

const COMBINATORS = {
  and: ({ guards = [] }) => and(guards.map(compileGuard)),
  or: ({ guards = [] }) => or(guards.map(compileGuard)),
  not: ({ guard, guards = [] }) => not(compileGuard(guard ?? guards[0])),
  stateIn: ({ state, stateValue }) => stateIn(state ?? stateValue),
  in: ({ state, stateValue }) => stateIn(state ?? stateValue)
};

export function compileGuard(guard) {
  if (!isRecord(guard) || !Object.hasOwn(COMBINATORS, guard.type)) return guard;
  return COMBINATORS[guard.type](guard.params ?? {});
}

function compileTransitions(written) {
  if (Array.isArray(written)) return written.map(compileTransitions);
  if (!isRecord(written) || !('guard' in written)) return written;
  return { ...written, guard: compileGuard(written.guard) };
}

const eachValue = (record, change) =>
  isRecord(record) ? Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)])) : record;

function rewrite(record, keys, change) {
  for (const key of keys) if (key in record) record[key] = change(record[key]);
}

function compileInvoke(written) {
  const invoke = { ...written };
  rewrite(invoke, ['onDone', 'onError', 'onSnapshot'], compileTransitions);
  rewrite(invoke, ['input'], lazily);
  return invoke;
}

function compileNode(written) {
  const node = { ...written };
  rewrite(node, ['on', 'after'], (table) => eachValue(table, compileTransitions));
  rewrite(node, ['always', 'onDone'], compileTransitions);
  if (isRecord(node.route)) node.route = compileTransitions(node.route);
  if (node.invoke !== undefined && node.invoke !== null) {
    node.invoke = Array.isArray(node.invoke) ? node.invoke.map(compileInvoke) : compileInvoke(node.invoke);
  }
  rewrite(node, ['output'], lazily);
  rewrite(node, ['states'], (states) => eachValue(states, compileNode));
  return node;
}

export function compileConfig(document, defaultLimit) {
  const { actors: _actors, delays: _delays, ...written } = document;
  const config = compileNode(written);
  if (isTemplate(config.context)) {
    const template = config.context;
    config.context = ({ input }) => fill(template, { input });
  }
  config.options = { maxIterations: defaultLimit, ...(document.options ?? {}) };
  return config;
}

/** Every event type written out under some `on`, sorted. */
export function writtenEvents(document) {
  const types = new Set();
  const visit = (node) => {
    if (!isRecord(node)) return;
    Object.keys(node.on ?? {}).filter((type) => !type.includes('*')).forEach((type) => types.add(type));
    Object.values(node.states ?? {}).forEach(visit);
  };
  visit(document);
  return [...types].sort();
}
