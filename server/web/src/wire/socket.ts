// The socket, driven by the machine. One socket at a time; what an old one says is not heard.

import { ClientType, ServerType, parseFrame, type ClientFrame } from "../protocol.gen.ts";
import { initialMachine, step, viewOf, type Effect, type Machine, type MachineEvent } from "./machine.ts";
import type { ConnectionState } from "../state/types.ts";

/** What the browser gives; a test gives its own. */
export interface Surroundings {
  now(): number;
  random(): number;
  online(): boolean;
  /** opens a socket to the server's /ws */
  dial(): WebSocketLike;
  token(): string;
}

export type WebSocketLike = Pick<WebSocket, "send" | "close" | "onopen" | "onmessage" | "onclose">;

export interface Listener {
  frame(text: string): void;
  changed(state: ConnectionState): void;
  connected(): void;
  disconnected(): void;
  /** reads the open session, or the list, and answers with probed() */
  probe(): void;
  askWhy(): void;
  forgetToken(): void;
  note(what: string): void;
}

export class Connection {
  #machine: Machine;
  #socket: WebSocketLike | null = null;
  #authenticated = false;
  readonly #around: Surroundings;
  readonly #listener: Listener;

  constructor(around: Surroundings, listener: Listener) {
    this.#around = around;
    this.#listener = listener;
    this.#machine = initialMachine(around.online(), around.now());
  }

  get state(): ConnectionState {
    return viewOf(this.#machine);
  }

  /** Takes an event; called once a second with "tick" too. */
  on(event: MachineEvent): void {
    const before = viewOf(this.#machine);
    const { machine, effects } = step(this.#machine, event, this.#around.now(), this.#around.random(), this.#around.token() !== "");
    this.#machine = machine;
    const after = viewOf(machine);
    for (const effect of effects) {
      this.#do(effect);
    }
    if (before.phase !== after.phase || before.reason !== after.reason || before.retryAt !== after.retryAt || before.downSince !== after.downSince) {
      this.#listener.changed(this.state);
    }
  }

  /** Sends a frame; false when there is no connection to send it on. */
  send(frame: ClientFrame): boolean {
    if (!this.#socket || !this.#authenticated) {
      return false;
    }
    this.#socket.send(JSON.stringify(frame));
    return true;
  }

  #do(effect: Effect): void {
    switch (effect.do) {
      case "dial":
        return this.#dial(effect.socket);
      case "drop":
        return this.#drop();
      case "authenticate":
        return this.#socket?.send(JSON.stringify({ type: ClientType.Auth, token: this.#around.token() }));
      case "probe":
        return this.#listener.probe();
      case "ask_why":
        return this.#listener.askWhy();
      case "forget_token":
        return this.#listener.forgetToken();
      case "connected":
        return this.#listener.connected();
      case "disconnected":
        return this.#listener.disconnected();
      case "note":
        return this.#listener.note(effect.what);
    }
  }

  #dial(socket: number): void {
    const ws = this.#around.dial();
    this.#socket = ws;
    this.#authenticated = false;
    ws.onopen = () => this.on({ on: "opened", socket });
    ws.onclose = (e) => this.on({ on: "closed", socket, code: e.code });
    ws.onmessage = (e) => {
      if (ws !== this.#socket || typeof e.data !== "string") {
        return;
      }
      this.#hear(socket, e.data);
    };
  }

  #hear(socket: number, text: string): void {
    this.on({ on: "frame", socket });
    if (!this.#authenticated) {
      const parsed = parseFrame(text);
      if (parsed.is !== "known" || parsed.frame.type !== ServerType.AuthOK) {
        return; // nothing else is said before it
      }
      this.#authenticated = true;
      this.#listener.frame(text);
      this.on({ on: "auth_ok", socket });
      return;
    }
    this.#listener.frame(text);
  }

  #drop(): void {
    const ws = this.#socket;
    this.#socket = null;
    this.#authenticated = false;
    if (ws) {
      ws.onopen = ws.onmessage = ws.onclose = null;
      ws.close(1000);
    }
  }
}
