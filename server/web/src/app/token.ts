// The token: kept by this tab, handed on to a tab that asks. Never in an address that is
// sent, never in a log.

export const tokenKey = "hitchpost:token";
const channelName = "hitchpost:token";
/** ms that siblings have to answer */
const patience = 200;

type Message = { ask: true } | { token: string } | { forget: string };

export class TokenKeeper {
  #token: string;
  readonly #storage: Storage | null;
  readonly #channel: BroadcastChannel | null;

  /** forgotten is called when another tab has signed out with the token of this one. */
  constructor(window: Window & typeof globalThis, forgotten: () => void) {
    this.#storage = storageOf(window);
    this.#token = this.#read();
    this.#channel = typeof window.BroadcastChannel === "function" ? new window.BroadcastChannel(channelName) : null;
    this.#channel?.addEventListener("message", (e: MessageEvent<Message>) => {
      if ("ask" in e.data && this.#token !== "") {
        this.#channel?.postMessage({ token: this.#token } satisfies Message);
      } else if ("forget" in e.data && this.#token !== "" && e.data.forget === this.#token) {
        forgotten();
      }
    });
  }

  get token(): string {
    return this.#token;
  }

  set token(token: string) {
    this.#token = token;
    try {
      if (token === "") {
        this.#storage?.removeItem(tokenKey);
      } else {
        this.#storage?.setItem(tokenKey, token);
      }
    } catch {
      // the tab keeps it for as long as it lives
    }
  }

  /** Signs the other tabs out, too: one that is left would hand the token on to whoever opens the next. */
  forgetEverywhere(): void {
    this.#channel?.postMessage({ forget: this.#token } satisfies Message);
  }

  /**
   * Reads a sign-in link, #token=…, and takes it out of the address and its history before
   * anything is requested.
   */
  takeLink(window: Window): void {
    const found = /^#token=(.+)$/.exec(window.location.hash);
    if (!found?.[1]) {
      return;
    }
    window.history.replaceState(window.history.state, "", window.location.pathname + window.location.search);
    try {
      this.token = decodeURIComponent(found[1]).trim();
    } catch {
      this.token = found[1];
    }
  }

  /** Asks the other open tabs for theirs; "" = none has one. */
  async ask(): Promise<string> {
    const channel = this.#channel;
    if (this.#token !== "" || !channel) {
      return this.#token;
    }
    return new Promise((resolve) => {
      const done = (token: string) => {
        clearTimeout(timer);
        channel.removeEventListener("message", hear);
        resolve(token);
      };
      const hear = (e: MessageEvent<Message>) => {
        if ("token" in e.data && typeof e.data.token === "string") {
          done(e.data.token);
        }
      };
      const timer = setTimeout(() => done(""), patience);
      channel.addEventListener("message", hear);
      channel.postMessage({ ask: true } satisfies Message);
    });
  }

  #read(): string {
    try {
      return this.#storage?.getItem(tokenKey) ?? "";
    } catch {
      return "";
    }
  }
}

function storageOf(window: Window): Storage | null {
  try {
    return window.sessionStorage;
  } catch {
    return null;
  }
}
