// The guard of an approval: its buttons do nothing in the first half second after the
// card appeared, or moved under the pointer.

import { type RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";

/** Milliseconds a card must have stood still before a verdict counts. */
export const guardTime = 500;

interface Place {
  top: number;
  left: number;
}

/** Follows where a thing is; it stands still when it has not moved for guardTime. */
export class Guard {
  #place: Place;
  #since: number;

  constructor(place: Place, now: number) {
    this.#place = place;
    this.#since = now;
  }

  /** Whether a verdict counts now; a move that is seen only here counts from now. */
  ready(place: Place, now: number): boolean {
    this.moved(place, now);
    return now - this.#since >= guardTime;
  }

  moved(place: Place, now: number): void {
    if (Math.abs(place.top - this.#place.top) > 2 || Math.abs(place.left - this.#place.left) > 2) {
      this.#place = place;
      this.#since = now;
    }
  }
}

/** Returns whether a verdict counts at the moment it is asked. */
export function useGuard(card: RefObject<HTMLElement | null>): () => boolean {
  const guard = useRef<Guard | null>(null);
  const place = (): Place | null => card.current?.getBoundingClientRect() ?? null;
  useEffect(() => {
    const first = place();
    guard.current = first && new Guard(first, performance.now());
    const look = (): void => {
      const now = place();
      if (now) {
        guard.current?.moved(now, performance.now());
      }
    };
    const sizes = new ResizeObserver(look); // what stands above it grew
    const column = card.current?.closest(".col");
    if (column) {
      sizes.observe(column);
    }
    document.addEventListener("scroll", look, { capture: true, passive: true });
    addEventListener("resize", look);
    return () => {
      sizes.disconnect();
      document.removeEventListener("scroll", look, { capture: true });
      removeEventListener("resize", look);
    };
  }, []);
  return () => {
    const now = place();
    return now !== null && guard.current !== null && guard.current.ready(now, performance.now());
  };
}
