// One case at work: its machine, the live root actor, and what happened since the last line.
import { createActor, createEmptyActor } from 'xstate';
import { makeClock } from './clock.mjs';
import { writtenEvents } from './config.mjs';
import { pathOf, rootOf } from './genealogy.mjs';
import { buildMachine } from './machine.mjs';
import { viaJson } from './values.mjs';

const EVENTS_PER_STEP = 2000;

function inspectionEntry(happening) {
  const { type, actorRef, event, snapshot, action, _transitions: transitions } = happening;
  const entry = { type, actor: pathOf(actorRef) };
  if (event) entry.event = event.type;
  if ('sourceRef' in happening) entry.source = happening.sourceRef ? pathOf(happening.sourceRef) : null;
  if (snapshot) {
    entry.status = snapshot.status;
    if (snapshot.value !== undefined) entry.value = viaJson(snapshot.value);
  }
  if (action) entry.action = action.type;
  if (transitions) entry.transitions = transitions.map((transition) => transition.eventType);
  return entry;
}

export class Session {
  trace = [];
  emitted = [];
  inspection = undefined;
  saved = undefined;
  overrun = false;
  #sent = 0;
  #lent = new Map();

  constructor(spec) {
    this.spec = spec;
    this.lastForeignId = Number(createEmptyActor().sessionId.slice('x:'.length));
  }

  start() {
    const { machine, actors, canEvents, snapshot } = this.spec;
    this.machine = buildMachine(machine, this.spec, this, actors ?? {});
    this.events = canEvents ?? writtenEvents(machine);
    this.boot(snapshot);
  }

  /** A new root actor on a new clock; whatever ran before is left behind. */
  boot(snapshot) {
    this.clock = makeClock(this.spec.clock);
    this.#lent = new Map();
    this.actor = undefined; // until it is known, whoever writes to the trace is taken for the new one
    const actor = createActor(this.machine, this.#options(snapshot, () => actor));
    this.actor = actor;
    this.#boundDeliveries(actor.system);
    actor.on('*', (event) => {
      if (this.actor === actor) this.emitted.push(viaJson(event));
    });
    actor.subscribe({ next() {}, error() {}, complete() {} }); // with an error handler nothing is re-thrown
    actor.start();
  }

  #options(snapshot, theActor) {
    const { spec } = this;
    const options = { clock: this.clock };
    options.logger = (...values) =>
      this.trace.push(values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))).join(' '));
    if (spec.input !== undefined) options.input = spec.input;
    if (spec.systemId !== undefined) options.systemId = spec.systemId;
    if (snapshot !== undefined) options.snapshot = snapshot;
    if (spec.inspect) {
      options.inspect = (happening) => {
        if (this.actor !== undefined && this.actor !== theActor()) return;
        this.inspection ??= [];
        this.inspection.push(inspectionEntry(happening));
      };
    }
    return options;
  }

  /** Actors may answer one another for ever; no macrostep would ever be too long. */
  #boundDeliveries(system) {
    const deliver = system._relay;
    system._relay = (source, target, event) => {
      this.#sent += 1;
      if (this.#sent > EVENTS_PER_STEP) {
        this.overrun = true;
        throw new Error(`oracle: more than ${EVENTS_PER_STEP} events in one step`);
      }
      return deliver(source, target, event);
    };
  }

  beginStep() {
    this.#sent = 0;
  }

  // -------------------------------------------- what actions and sources call
  record(self, text) {
    if (this.actor && rootOf(self) !== this.actor) return;
    const path = pathOf(self);
    this.trace.push(path === '' ? text : `${path}|${text}`);
  }

  lend(self, handle) {
    this.#lent.set(pathOf(self), handle);
  }

  /** By whole path, else the youngest path that ends in this id. */
  handle(id) {
    const exact = this.#lent.get(id);
    if (exact) return exact;
    const found = [...this.#lent].filter(([path]) => path.split('/').pop() === id).pop();
    if (!found) throw new Error(`no manual actor '${id}'`);
    return found[1];
  }

  /** The wording is part of the protocol: it is what V8 says in the reference implementation. */
  drive(id, verb, value) {
    const handle = this.handle(id);
    if (typeof handle[verb] !== 'function') throw new TypeError(`this.handle(...).${verb} is not a function`);
    handle[verb](value);
  }
}
