import { SimulatedClock } from 'xstate';

/** Stops at every due time on its way, where XState's SimulatedClock jumps to the end first. */
class SteppingClock {
  #now = 0;
  #lastId = 0;
  #pending = new Map(); // id -> { due, run }, oldest first

  now() {
    return this.#now;
  }

  setTimeout(run, delay) {
    this.#lastId += 1;
    const wait = Number(delay) || 0;
    this.#pending.set(this.#lastId, { due: this.#now + (wait > 0 ? wait : 0), run });
    return this.#lastId;
  }

  clearTimeout(id) {
    this.#pending.delete(id);
  }

  increment(ms) {
    const end = this.#now + ms;
    for (let id = this.#nextUntil(end); id !== undefined; id = this.#nextUntil(end)) {
      const { due, run } = this.#pending.get(id);
      this.#pending.delete(id);
      if (due > this.#now) this.#now = due;
      run();
    }
    this.#now = end;
  }

  #nextUntil(end) {
    let first;
    for (const [id, { due }] of this.#pending) {
      if (due > end) continue;
      if (first === undefined || due < this.#pending.get(first).due) first = id;
    }
    return first;
  }
}

export const makeClock = (kind) => (kind === 'exact' ? new SteppingClock() : new SimulatedClock());
