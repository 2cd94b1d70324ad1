import { line, refusal } from './report.mjs';
import { Session } from './session.mjs';
import { kindOf, perform } from './steps.mjs';

// Turns of the microtask queue before a line is printed. Promise actors that settle one another
// need one turn each, so the numbers can be seen; they are part of the protocol.
const TURNS = { afterStart: 12, afterStep: 13, afterThrow: 1 };

/** Calls `print` with each result line of one case, given as text. */
export async function runCase(text, print) {
  let spec;
  try {
    spec = JSON.parse(text);
  } catch (error) {
    print(refusal(undefined, 'parse', error));
    return;
  }
  const session = new Session(spec);
  try {
    session.start();
  } catch (error) {
    print(refusal(spec.id, 'create', error));
    return;
  }
  for (let turn = 0; turn < TURNS.afterStart; turn += 1) await null;
  const steps = spec.steps ?? [];
  const all = spec.report?.lines !== 'last';
  if (all || steps.length === 0) print(line(session, -1, 'init'));
  for (const [index, step] of steps.entries()) {
    const [told, turns] = tried(session, step);
    for (let turn = 0; turn < turns; turn += 1) await null;
    if (all || index === steps.length - 1) print(line(session, index, kindOf(step) ?? '?', told));
  }
}

function tried(session, step) {
  try {
    return [perform(session, step), TURNS.afterStep];
  } catch (error) {
    return [{ threw: error.message }, TURNS.afterThrow];
  }
}
