// What only this browser keeps: drafts, read marks, folds, choices. A key per owner and
// session; other tabs follow; signing out clears all of it.

import { batch, signal, type Signal } from "@preact/signals";
import { Queue } from "../protocol.gen.ts";

export type Theme = "system" | "light" | "dark";

const prefix = "hitchpost:";
const themeKey = prefix + "theme"; // read by start.js before the first paint

/** Storage that may refuse: private windows and full disks must not break the page. */
export interface Storage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
  readonly length: number;
  key(n: number): string | null;
}

export class Local {
  readonly #storage: Storage;
  /** what the storage did not take: it is kept for as long as the tab lives */
  readonly #refused = new Map<string, string | null>();
  /** a count for each kind of thing: a read mark redraws no fold */
  readonly #changes = new Map<string, Signal<number>>();
  /** by the key of the storage: every box of a draft on this page shows one text */
  readonly #drafts = new Map<string, Signal<string>>();
  #parsed = { text: "", folds: {} as Record<string, boolean> };
  #owner = "";

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /** Whose things they are; "" = not known yet. */
  get owner(): string {
    return this.#owner;
  }

  /** Whose things they are from now on. */
  setOwner(owner: string): void {
    if (owner !== this.#owner) {
      this.#owner = owner;
      this.#touchAll();
    }
  }

  /** To be called for a storage event of the window. writing: somebody writes in a box of this tab. */
  followed(key: string | null, writing: boolean): void {
    if (key === null || key.startsWith(prefix)) {
      this.#followDrafts(key, writing);
      this.#touchAll();
    }
  }

  /** The draft of a session; "" names the session that is not there yet. */
  draft(session: string): string {
    void this.#change("draft").value; // another owner has other drafts
    return this.#draft(session).value;
  }

  setDraft(session: string, text: string): void {
    this.#draft(session).value = text;
    this.#write(this.#draftKey(session), text === "" ? null : text);
  }

  /** What stands where a text of the session is edited anew; "" = nothing was typed there. */
  edit(session: string, entry: string): string {
    return this.draft(`${session}/${entry}`);
  }

  setEdit(session: string, entry: string, text: string): void {
    this.setDraft(`${session}/${entry}`, text);
  }

  /** The entries of a session of which an edit is kept. */
  edits(session: string): string[] {
    const before = this.#draftKey(`${session}/`);
    return this.#keys(before).map((key) => key.slice(before.length));
  }

  /** A text that left another box and did not arrive: it stands before what is written. */
  handBack(session: string, text: string): void {
    const draft = this.#draft(session).peek();
    this.setDraft(session, draft === "" ? text : `${text}\n\n${draft}`);
  }

  /** The try to send the draft of which nobody knows whether it arrived; "" = none. */
  onItsWay(session: string): string {
    return this.#read(`${prefix}${this.#owner}:sending:${session}`) ?? "";
  }

  setOnItsWay(session: string, kept: string): void {
    this.#write(`${prefix}${this.#owner}:sending:${session}`, kept === "" ? null : kept);
  }

  /** Highest seq seen; −1 = never opened here. */
  readMark(session: string): number {
    return Number(this.#get(`read:${session}`) ?? "-1");
  }

  setReadMark(session: string, seq: number): void {
    this.#set(`read:${session}`, String(seq));
  }

  /** What the reader opened or closed; undefined = as it comes. */
  fold(session: string, key: string): boolean | undefined {
    const folds = this.#folds(session);
    return folds[key];
  }

  setFold(session: string, key: string, open: boolean): void {
    const folds = { ...this.#folds(session) };
    delete folds[key];
    folds[key] = open; // the newest stands last
    const newest = Object.entries(folds).slice(-maxFolds);
    this.#set(`folds:${session}`, JSON.stringify(Object.fromEntries(newest)));
  }

  queue(session: string): Queue {
    const chosen = this.#get(`queue:${session}`);
    return Object.values(Queue).find((q) => q === chosen) ?? Queue.Steer;
  }

  setQueue(session: string, queue: Queue): void {
    this.#set(`queue:${session}`, queue);
  }

  /** The session opened last; "" = none. */
  lastOpened(): string {
    return this.#get("last:") ?? "";
  }

  setLastOpened(session: string): void {
    this.#set("last:", session);
  }

  singleKeys(): boolean {
    return this.#get("keys:") !== "off";
  }

  setSingleKeys(on: boolean): void {
    this.#set("keys:", on ? null : "off");
  }

  theme(): Theme {
    void this.#change("theme").value;
    const kept = this.#read(themeKey);
    return kept === "light" || kept === "dark" ? kept : "system";
  }

  setTheme(theme: Theme): void {
    this.#write(themeKey, theme === "system" ? null : theme);
    this.#touch("theme");
  }

  /** Forgets a session that is gone. */
  forget(session: string): void {
    this.setDraft(session, "");
    this.edits(session).forEach((entry) => this.setEdit(session, entry, ""));
    this.setOnItsWay(session, "");
    for (const what of ["read", "folds", "queue"]) {
      this.#set(`${what}:${session}`, null);
    }
  }

  /** Forgets everything: signing out. */
  clear(): void {
    this.#refused.clear();
    this.#keys(prefix).forEach((key) => this.#write(key, null));
    this.#drafts.forEach((draft) => (draft.value = ""));
    this.#touchAll();
  }

  #keys(before: string): string[] {
    const keys: string[] = [];
    for (let i = 0; i < this.#storage.length; i++) {
      const key = this.#storage.key(i);
      if (key?.startsWith(before)) {
        keys.push(key);
      }
    }
    return keys;
  }

  #draftKey(session: string): string {
    return `${prefix}${this.#owner}:draft:${session}`;
  }

  #draft(session: string): Signal<string> {
    const key = this.#draftKey(session);
    let draft = this.#drafts.get(key);
    if (!draft) {
      draft = signal(this.#read(key) ?? "");
      this.#drafts.set(key, draft);
    }
    return draft;
  }

  /** What another tab writes comes into the boxes that are left alone here. */
  #followDrafts(key: string | null, writing: boolean): void {
    for (const [at, draft] of this.#drafts) {
      if (!writing && (key === null || key === at)) {
        draft.value = this.#read(at) ?? "";
      }
    }
  }

  #folds(session: string): Record<string, boolean> {
    const text = this.#get(`folds:${session}`) ?? "{}";
    if (text !== this.#parsed.text) { // hundreds of cards ask in one drawing
      this.#parsed = { text, folds: readFolds(text) };
    }
    return this.#parsed.folds;
  }

  #get(name: string): string | null {
    void this.#change(kindOf(name)).value; // whoever reads is told of changes
    return this.#read(`${prefix}${this.#owner}:${name}`);
  }

  #set(name: string, value: string | null): void {
    const key = `${prefix}${this.#owner}:${name}`;
    if (this.#read(key) !== value) {
      this.#write(key, value);
      this.#touch(kindOf(name));
    }
  }

  #read(key: string): string | null {
    try {
      const refused = this.#refused.get(key);
      return refused === undefined ? this.#storage.getItem(key) : refused;
    } catch {
      return null;
    }
  }

  #write(key: string, value: string | null): void {
    try {
      if (value === null) {
        this.#storage.removeItem(key);
      } else {
        this.#storage.setItem(key, value);
      }
      this.#refused.delete(key);
    } catch {
      this.#refused.set(key, value);
    }
  }

  #change(kind: string): Signal<number> {
    let change = this.#changes.get(kind);
    if (!change) {
      change = signal(0);
      this.#changes.set(kind, change);
    }
    return change;
  }

  #touch(kind: string): void {
    const change = this.#change(kind);
    change.value = change.peek() + 1;
  }

  #touchAll(): void {
    batch(() => this.#changes.forEach((change) => change.value = change.peek() + 1));
  }
}

/** "draft:main" is a draft. */
function kindOf(name: string): string {
  return name.split(":", 1)[0] ?? "";
}

function readFolds(text: string): Record<string, boolean> {
  try {
    const kept: unknown = JSON.parse(text);
    return typeof kept === "object" && kept !== null ? (kept as Record<string, boolean>) : {};
  } catch {
    return {};
  }
}

const maxFolds = 500;
