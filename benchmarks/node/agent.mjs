// (g): the support agent's whole run. The machine is its JSON; the functions that its Python
// implementations.py has are written here for XState, the actors are promises settled by the steps.
import { SimulatedClock, assign, createActor, fromPromise, initialTransition, setup, transition } from 'xstate';
import { chartOf, repeat } from './measuring.mjs';

const isReference = (value) => typeof value === 'string' && value !== '';
const ACTORS = { draft: 'draftAnswer', compliance: 'checkCompliance', send: 'sendAnswer' };

const guards = {
  hasTicketRef: ({ event }) => isReference(event.ticketRef),
  hasReviewFeedback: ({ event }) => isReference(event.reviewFeedbackRef),
  canRetry: ({ context }) => context.attempt < context.maxAttempts,
  verdictIsPassed: ({ event }) => event.output?.verdict === 'passed',
  readyAndPassed: ({ context }) => context.draftRef !== null && context.complianceVerdict === 'passed',
  complianceRejected: ({ context }) => context.complianceVerdict === 'rejected'
};

const actions = {
  takeTicket: assign(({ event }) => ({ ticketRef: event.ticketRef })),
  countAttempt: assign(({ context }) => ({ attempt: context.attempt + 1 })),
  keepDraft: assign(({ event }) => ({ draftRef: event.output.draftRef })),
  keepVerdict: assign(({ event }) => ({
    complianceVerdict: event.output?.verdict === 'passed' ? 'passed' : 'rejected',
    complianceReportRef: event.output?.reportRef ?? null
  })),
  startRevision: assign(({ event }) => ({
    attempt: 1,
    draftRef: null,
    complianceVerdict: null,
    complianceReportRef: null,
    reviewFeedbackRef: event.reviewFeedbackRef
  })),
  keepSendResult: assign(({ event }) => ({ sendResultRef: event.output.sendResultRef })),
  fail: assign((_, params) => ({ reason: params.reason })),
  notifyReviewer: () => {},
  notifyApprover: () => {},
  reportFailure: () => {}
};

const delays = {
  retryBackoff: ({ context }) => context.retryBackoffMs * 2 ** (context.attempt - 1),
  approvalDeadline: ({ context }) => context.approvalDeadlineMs
};

const inputs = {
  draft: ({ context: { ticketRef, attempt, reviewFeedbackRef } }) => ({ ticketRef, attempt, reviewFeedbackRef }),
  compliance: ({ context: { ticketRef } }) => ({ ticketRef }),
  send: ({ context: { ticketRef, draftRef } }) => ({ ticketRef, draftRef, requestKey: `${ticketRef}#${draftRef}` })
};

const output = ({ context: { reason, ticketRef, sendResultRef } }) => ({
  outcome: reason ? 'failed' : 'sent',
  reason,
  ticketRef,
  sendResultRef
});

/** Input of an invocation and output of the machine are functions, which JSON cannot hold. */
function withFunctions(node) {
  const made = { ...node };
  if (node.invoke) made.invoke = { ...node.invoke, input: inputs[node.invoke.id] };
  if (node.states) {
    made.states = Object.fromEntries(Object.entries(node.states).map(([key, one]) => [key, withFunctions(one)]));
  }
  return made;
}

function machineOf(config, actors) {
  const { context, ...rest } = withFunctions(config);
  return setup({ guards, actions, delays, actors }).createMachine({
    ...rest,
    output,
    context: ({ input }) => ({ ...context, ...(input ?? {}) })
  });
}

function promised() {
  const pending = {};
  const actors = Object.fromEntries(
    Object.entries(ACTORS).map(([name, source]) => [
      source,
      fromPromise(() => new Promise((resolve, reject) => (pending[name] = { resolve, reject })))
    ])
  );
  return { pending, actors };
}

function sending({ config, steps }) {
  const { pending, actors } = promised();
  const machine = machineOf(config, actors);
  let last;
  const run = async () => {
    const clock = new SimulatedClock();
    const actor = createActor(machine, { clock }).start();
    for (const [how, given, value] of steps) {
      if (how === 'send') actor.send(given);
      else if (how === 'advance') clock.increment(given);
      else {
        const before = actor.getSnapshot();
        pending[given][how](value);
        while (actor.getSnapshot() === before) await null;
      }
    }
    last = actor.getSnapshot();
  };
  return { run, end: () => last.output };
}

function pure({ config, events }) {
  const machine = machineOf(config, promised().actors);
  let last;
  const run = () => {
    let [snapshot] = initialTransition(machine);
    for (const event of events) [snapshot] = transition(machine, snapshot, event);
    last = snapshot;
  };
  return { run, end: () => last.output };
}

const MODES = { send: sending, transition: pure };

export async function measureAgent(task) {
  const { run, end } = MODES[task.mode](chartOf(task));
  await run();
  const runs = async () => {
    for (let trip = 0; trip < task.trips; trip += 1) await run();
  };
  return { samples: await repeat(task, runs, task.trips), end: end() };
}
