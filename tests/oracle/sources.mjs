// Actor sources that a case may invoke or spawn by name. `host.lend(actor, handle)`
// keeps what the case's later steps need to drive the actor from outside.
import { fromCallback, fromEventObservable, fromObservable, fromPromise, fromTransition } from 'xstate';

const startText = (input) => (input === undefined ? 'start' : `start(${JSON.stringify(input)})`);

const driven = (host, self) => ({
  subscribe(observer) {
    host.record(self, 'start');
    host.lend(self, { observer });
    return { unsubscribe: () => host.record(self, 'stop') };
  }
});

const SOURCES = {
  manual: (host) =>
    fromPromise(({ self, input }) => {
      host.record(self, startText(input));
      return new Promise((resolve, reject) => host.lend(self, { resolve, reject }));
    }),
  callback: (host) =>
    fromCallback(({ self, input, sendBack, receive }) => {
      host.record(self, startText(input));
      receive((event) => host.record(self, `recv(${event.type})`));
      host.lend(self, { sendBack });
      return () => host.record(self, 'stop');
    }),
  observable: (host) => fromObservable(({ self }) => driven(host, self)),
  eventObservable: (host) => fromEventObservable(({ self }) => driven(host, self)),
  counter: () =>
    fromTransition(
      (state, event) => (event.type === 'INC' ? { count: state.count + (event.by ?? 1) } : state),
      { count: 0 }
    ),
  echo: () => fromPromise(({ input }) => Promise.resolve(input)),
  fail: () => fromPromise(({ input }) => Promise.reject(input))
};

/** Undefined for a name nobody knows: what happens then is XState's business. */
export const sourceFor = (name, host) => (Object.hasOwn(SOURCES, name) ? SOURCES[name](host) : undefined);
