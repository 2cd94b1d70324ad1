// Result lines.
import { viaJson } from './values.mjs';

export function attempt(ask) {
  try {
    return ask() ?? null;
  } catch (error) {
    return { $error: error.message };
  }
}

const plainError = (error) => {
  if (error instanceof Error) return { name: error.name, message: error.message };
  return viaJson(error) ?? null;
};

const isActor = (value) => typeof value === 'object' && value !== null && 'sessionId' in value && 'send' in value;
const nameActor = (value) => (isActor(value) ? { $actor: value.id } : value);

/** An action of a pure step, actors in its params replaced by their ids. */
export function plainAction({ type, params }) {
  if (typeof params !== 'object' || params === null) return viaJson({ type, params });
  if (isActor(params)) return viaJson({ type, params: nameActor(params) });
  const named = Object.entries(params).map(([key, value]) => [key, nameActor(value)]);
  return viaJson({ type, params: Object.fromEntries(named) });
}

function answersOfCan(snapshot, events) {
  if (snapshot.value === undefined) return {};
  const asked = events.map((event) => (typeof event === 'string' ? { type: event } : event));
  return Object.fromEntries(asked.map((event) => [event.type, attempt(() => snapshot.can(event))]));
}

/** Session ids count on through the whole process; in a line they begin with the case's root. */
const ownIds = (text, lastForeignId) =>
  text.replace(/\bx:(\d+)\b/g, (id, number) => (number > lastForeignId ? `x:${number - lastForeignId - 1}` : id));

export function line(session, step, kind, told = {}) {
  const { spec, actor } = session;
  const wanted = spec.report ?? {};
  const snapshot = actor.getSnapshot();
  const can = wanted.can === false ? undefined : answersOfCan(snapshot, session.events);
  const fields = {
    case: spec.id ?? null,
    step,
    op: kind,
    value: snapshot.value ?? null,
    status: snapshot.status ?? null,
    context: viaJson(snapshot.context) ?? null,
    tags: [...(snapshot.tags ?? [])],
    output: viaJson(snapshot.output) ?? null,
    error: plainError(snapshot.error),
    trace: session.trace.splice(0),
    emitted: session.emitted.splice(0),
    children: Object.keys(snapshot.children ?? {}),
    can,
    persisted: wanted.persisted === false ? undefined : attempt(() => viaJson(actor.getPersistedSnapshot())),
    overrun: session.overrun || undefined,
    inspection: session.inspection,
    ...told
  };
  session.inspection = spec.inspect ? [] : undefined;
  return ownIds(JSON.stringify(fields), session.lastForeignId);
}

export const refusal = (id, kind, error) => JSON.stringify({ case: id ?? null, step: -1, op: kind, fatal: error.message });
