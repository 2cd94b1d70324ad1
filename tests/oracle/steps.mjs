// The steps of a case, by the key that names them. Where a step has two of these keys the first counts.
import { getNextTransitions, initialTransition, transition } from 'xstate';
import { descendant } from './genealogy.mjs';
import { attempt, plainAction } from './report.mjs';
import { lookUp, toEvent, viaJson } from './values.mjs';

const planned = ([snapshot, actions]) => ({
  pure: {
    value: snapshot.value,
    status: snapshot.status,
    context: viaJson(snapshot.context),
    actions: actions.map(plainAction)
  }
});

const plainTransition = ({ eventType, source, target }) => ({
  eventType,
  source: source.id,
  ...(target ? { target: target.map((node) => node.id) } : {})
});

// A snapshot of a machine that failed very early has no methods. V8 quotes the source when it says so
// (`s.can is not a function`), which makes the name `s` a part of the protocol.
const QUESTIONS = {
  matches: (s, values) => values.map((value) => s.matches(value)),
  hasTag: (s, tags) => tags.map((tag) => s.hasTag(tag)),
  can: (s, events) => events.map((event) => attempt(() => s.can(toEvent(event)))),
  meta: (s) => s.getMeta(),
  nextTransitions: (s) => getNextTransitions(s).map(plainTransition),
  context: (s, paths) => paths.map((path) => viaJson(lookUp(s.context, path)) ?? null)
};

function answer(snapshot, asked) {
  const answers = {};
  for (const [name, reply] of Object.entries(QUESTIONS)) {
    if (asked[name]) answers[name] = reply(snapshot, asked[name]);
  }
  return { query: answers };
}

const reason = (step) => ('errorMessage' in step ? new Error(step.errorMessage) : step.error);

const STEPS = {
  sendBack: (session, step) => session.drive(step.sendBack, 'sendBack', toEvent(step.event)),
  event: ({ actor }, step) => actor.send(toEvent(step.event)),
  advance: ({ clock }, step) => clock.increment(step.advance),
  resolve: (session, step) => session.drive(step.resolve, 'resolve', step.output),
  reject: (session, step) => session.drive(step.reject, 'reject', reason(step)),
  next: (session, step) => session.handle(step.next).observer.next(step.value),
  complete: (session, step) => session.handle(step.complete).observer.complete(),
  fail: (session, step) => session.handle(step.fail).observer.error(step.error),
  childEvent: ({ actor }, { childEvent }) => descendant(actor, childEvent.to).send(toEvent(childEvent.event)),
  stop: ({ actor }) => actor.stop(),
  persist: (session) => {
    session.saved = viaJson(session.actor.getPersistedSnapshot());
  },
  restore: (session, step) => session.boot(step.restore === true ? viaJson(session.saved) : step.restore),
  pure: ({ machine, actor }, step) => planned(transition(machine, actor.getSnapshot(), toEvent(step.pure))),
  pureInitial: ({ machine, spec }) => planned(initialTransition(machine, spec.input)),
  query: ({ actor }, step) => answer(actor.getSnapshot(), step.query)
};
const TELLING = new Set(['pure', 'pureInitial', 'query']);

export const kindOf = (step) => Object.keys(STEPS).find((kind) => kind in step);

/** What the step tells beside its effects; an impossible step throws. */
export function perform(session, step) {
  const kind = kindOf(step);
  session.beginStep();
  if (kind === undefined) throw new Error(`unknown step ${JSON.stringify(step)}`);
  const told = STEPS[kind](session, step);
  return TELLING.has(kind) ? told : {};
}
