// Holds the state. Inputs are gathered and applied once a frame; a hidden tab applies them
// once a second.

import { signal, type ReadonlySignal } from "@preact/signals";
import { initialState, reduce } from "../state/reduce.ts";
import type { AppState, Input, Want } from "../state/types.ts";

export interface Schedule {
  /** calls back before the next paint, or within a second when nobody looks */
  soon(work: () => void): void;
  /** monotonic ms */
  clock(): number;
}

/** Inputs that are applied before the clock is looked at, and ms of work before the page may paint. */
const slice = 500;
const sliceTime = 12;

export class Store {
  readonly #state = signal(initialState());
  readonly #schedule: Schedule;
  readonly #after: (state: AppState, wants: readonly Want[]) => void;
  #inputs: Input[] = [];
  #scheduled = false;

  /** after is told of each new state, and does what it wants read. */
  constructor(schedule: Schedule, after: (state: AppState, wants: readonly Want[]) => void) {
    this.#schedule = schedule;
    this.#after = after;
  }

  get state(): ReadonlySignal<AppState> {
    return this.#state;
  }

  get now(): AppState {
    return this.#state.peek();
  }

  /** To be applied before the next paint. */
  push(input: Input): void {
    this.#inputs.push(input);
    this.#ask();
  }

  /** Applied at once, behind everything that waits. */
  apply(input: Input): void {
    this.#inputs.push(input);
    this.#run(Infinity);
  }

  /** Applies what waits. */
  flush(): void {
    this.#run(Infinity);
  }

  #ask(): void {
    if (!this.#scheduled) {
      this.#scheduled = true;
      this.#schedule.soon(() => {
        this.#scheduled = false;
        this.#run(sliceTime);
      });
    }
  }

  #run(time: number): void {
    const until = this.#schedule.clock() + time;
    let state = this.#state.peek();
    let at = 0;
    do {
      state = reduce(state, ...this.#inputs.slice(at, at + slice));
      at += slice;
    } while (at < this.#inputs.length && this.#schedule.clock() < until);
    this.#inputs = this.#inputs.slice(at);
    const { wants } = state;
    this.#state.value = wants.length > 0 ? reduce(state, { is: "wants_taken" }) : state;
    this.#after(this.#state.peek(), wants);
    if (this.#inputs.length > 0) {
      this.#ask();
    }
  }
}
