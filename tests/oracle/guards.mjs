// Guards that a case may call by name.
import { compileGuard } from './config.mjs';
import { lookUp } from './values.mjs';

const sameJson = (a, b) => JSON.stringify(a) === JSON.stringify(b);

const onContext = (test) => ({ context }, params) => test(lookUp(context, params.key), params.value);
const onEvent = (test) => ({ event }, params) => test(lookUp(event, params.key), params.value);

const GUARDS = {
  true: () => true,
  false: () => false,
  always: (_args, params) => params?.value !== false,
  ctxEq: onContext(sameJson),
  ctxNe: onContext((a, b) => !sameJson(a, b)),
  ctxGt: onContext((a, b) => a > b),
  ctxGte: onContext((a, b) => a >= b),
  ctxLt: onContext((a, b) => a < b),
  ctxLte: onContext((a, b) => a <= b),
  ctxTruthy: onContext(Boolean),
  evtEq: onEvent(sameJson),
  evtGt: onEvent((a, b) => a > b),
  evtTruthy: onEvent(Boolean),
  evtType: ({ event }, params) => event.type === params.type,
  throw: (_args, params) => {
    throw new Error(params?.message ?? 'guard failed');
  }
};

/** The library and, over it, what the case itself defines: constants or other guards. */
export function guardsFor(spec) {
  const guards = { ...GUARDS };
  for (const [name, meaning] of Object.entries(spec.guards ?? {})) {
    guards[name] = typeof meaning === 'boolean' ? () => meaning : compileGuard(meaning);
  }
  return guards;
}
