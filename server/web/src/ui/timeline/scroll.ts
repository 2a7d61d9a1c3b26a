// Who scrolls: the reader. Pinned, the end stays in view; else nothing here writes to the
// scroll position. Any sign that the reader looks at something older unpins at once.

/** Pixels from the end within which the end counts as reached. */
export const near = 48;

export interface ScrollEvents {
  pinned(now: boolean): void;
  /** the reader comes within a screen of the top, and scrolls no faster than can be read */
  top(): void;
  /** the same at the bottom of what is in the document */
  bottom(): void;
}

export class Scroller {
  readonly #box: HTMLElement;
  readonly #events: ScrollEvents;
  readonly #ends = new AbortController();
  readonly #sizes: ResizeObserver;
  #pinned = true;
  #toEnd = true; // the document holds the newest item
  #intent: "up" | "down" | "drag" | "" = "";
  #last = 0;
  #touch = 0;
  #rest: ReturnType<typeof setTimeout> | undefined;

  /** content is what grows inside the box. */
  constructor(box: HTMLElement, content: HTMLElement, events: ScrollEvents) {
    this.#box = box;
    this.#events = events;
    this.#sizes = new ResizeObserver(() => this.follow());
    this.#sizes.observe(box);
    this.#sizes.observe(content);
    const on = <K extends keyof HTMLElementEventMap>(name: K, does: (event: HTMLElementEventMap[K]) => void): void =>
      box.addEventListener(name, does, { passive: true, signal: this.#ends.signal });
    on("wheel", (e) => this.#meant(e.deltaY < 0 ? "up" : "down"));
    on("touchstart", (e) => (this.#touch = e.touches[0]?.clientY ?? 0));
    on("touchmove", (e) => {
      const y = e.touches[0]?.clientY ?? this.#touch;
      if (y !== this.#touch) {
        this.#meant(y > this.#touch ? "up" : "down");
        this.#touch = y;
      }
    });
    on("keydown", (e) => this.#keyed(e));
    on("pointerdown", (e) => {
      if (e.target === box && e.offsetX >= box.clientWidth) {
        this.#intent = "drag"; // the scroll bar: only its direction tells what is meant
      }
    });
    on("focusin", (e) => this.#focused(e));
    on("scroll", () => this.#scrolled());
    document.addEventListener("selectionchange", () => this.#selected(), { signal: this.#ends.signal });
  }

  get pinned(): boolean {
    return this.#pinned;
  }

  end(): void {
    this.#ends.abort();
    this.#sizes.disconnect();
    clearTimeout(this.#rest);
  }

  /** Whether the newest item is in the document. */
  holdsEnd(is: boolean): void {
    this.#toEnd = is;
  }

  /** Keeps the end in view, for a reader who is there. To be called before the next paint. */
  follow(): void {
    if (this.#toEnd && this.#box.scrollHeight <= this.#box.clientHeight) {
      this.#set(true); // everything is in view: the end, too
    }
    if (this.#pinned && this.#toEnd) {
      this.#box.scrollTop = this.#box.scrollHeight;
      this.#last = this.#box.scrollTop;
    }
  }

  pin(): void {
    this.#set(true);
    this.follow();
  }

  unpin(): void {
    this.#set(false);
  }

  /** Brings a place into view, at a share of the height from the top. */
  show(place: HTMLElement, share: number): void {
    this.#set(false);
    const top = place.getBoundingClientRect().top - this.#box.getBoundingClientRect().top;
    this.#box.scrollTop += top - this.#box.clientHeight * share;
    this.#last = this.#box.scrollTop;
  }

  /** Pixels between what is seen and the end. */
  #rests(): number {
    return this.#box.scrollHeight - this.#box.scrollTop - this.#box.clientHeight;
  }

  #meant(way: "up" | "down"): void {
    this.#intent = way;
    if (way === "up" && this.#box.scrollHeight > this.#box.clientHeight) {
      this.#set(false);
    }
  }

  #keyed(event: KeyboardEvent): void {
    if (["PageUp", "Home", "ArrowUp"].includes(event.key) || (event.key === " " && event.shiftKey)) {
      this.#meant("up");
    } else if (["PageDown", "End", "ArrowDown", " "].includes(event.key)) {
      this.#meant("down");
    }
  }

  /** Focus in an older entry: the newest one is where the end is. */
  #focused(event: FocusEvent): void {
    const entry = (event.target as HTMLElement).closest(".e");
    const all = this.#box.querySelectorAll(".e");
    if (entry && entry !== all[all.length - 1]) {
      this.#set(false);
    }
  }

  #selected(): void {
    const selection = document.getSelection();
    if (selection && !selection.isCollapsed && this.#box.contains(selection.anchorNode)) {
      this.#set(false);
    }
  }

  #scrolled(): void {
    const { scrollTop } = this.#box;
    const down = scrollTop > this.#last;
    const up = scrollTop < this.#last;
    this.#last = scrollTop;
    if (this.#intent === "drag" && up && this.#rests() > near) {
      this.#set(false);
    }
    if (down && this.#intent !== "up" && this.#intent !== "" && this.#toEnd && this.#rests() < near) {
      this.#set(true);
    }
    clearTimeout(this.#rest);
    this.#rest = setTimeout(() => this.#rested(), 100); // a fast scroll is not interrupted
  }

  #rested(): void {
    const screen = this.#box.clientHeight;
    if (this.#box.scrollTop < screen) {
      this.#events.top();
    }
    if (!this.#toEnd && this.#rests() < screen) {
      this.#events.bottom();
    }
  }

  #set(now: boolean): void {
    if (now !== this.#pinned) {
      this.#pinned = now;
      this.#events.pinned(now);
    }
  }
}
