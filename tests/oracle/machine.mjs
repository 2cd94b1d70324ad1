import { createMachine } from 'xstate';
import { actionsFor } from './actions.mjs';
import { compileConfig } from './config.mjs';
import { guardsFor } from './guards.mjs';
import { sourceFor } from './sources.mjs';
import { fill, isTemplate } from './values.mjs';

const ITERATION_LIMIT = 1000;

const delaysFor = (document, spec) =>
  Object.fromEntries(
    Object.entries({ ...(document.delays ?? {}), ...(spec.delays ?? {}) }).map(([name, delay]) => [
      name,
      isTemplate(delay) ? (args) => fill(delay, args) : delay
    ])
  );

/** Child machines are built when XState first asks for them, once per parent machine. */
function actorsFor(documents, spec, host) {
  const made = new Map();
  const make = (name) =>
    Object.hasOwn(documents, name) ? buildMachine(documents[name], spec, host, documents) : sourceFor(name, host);
  return new Proxy(
    {},
    {
      get(_target, name) {
        if (typeof name !== 'string') return undefined;
        if (!made.has(name)) made.set(name, make(name));
        return made.get(name);
      }
    }
  );
}

export function buildMachine(document, spec, host, outerActors) {
  const documents = { ...outerActors, ...(document.actors ?? {}) };
  const machine = createMachine(compileConfig(document, ITERATION_LIMIT));
  machine.implementations = {
    actions: actionsFor(spec, host),
    guards: guardsFor(spec),
    actors: actorsFor(documents, spec, host),
    delays: delaysFor(document, spec)
  };
  return machine;
}
