/** A frame from the server: type says what payload is. */
export type ServerFrame = {
  [T in keyof ServerPayloads]: {
    type: T;
    /** Cursor: the seq of the event that the frame comes from. Absent on an unnumbered frame. */
    seq?: number;
    payload: ServerPayloads[T];
  };
}[keyof ServerPayloads];

/** A frame to the server. */
export type ClientFrame =
  | Auth
  | { [T in keyof ClientPayloads]: { type: T; payload: ClientPayloads[T] } }[keyof ClientPayloads];

/** Type of a member, "|null" where it may be null, "?" where it may be absent. */
type Shape = Record<string, string>;

/** A frame of a type that this version does not know: to be ignored and counted. */
export interface UnknownFrame {
  type: string;
  seq?: number;
  payload: unknown;
}

export type ParsedFrame =
  | { is: "known"; frame: ServerFrame }
  | { is: "unknown"; frame: UnknownFrame }
  | { is: "malformed"; reason: string };

/** An entry whose kind, and type of item, this version knows. */
export type KnownEntry = Entry &
  (
    | { kind: typeof Kind.Item; payload: Item }
    | { kind: typeof Kind.Compaction; payload: Checkpoint }
    | { kind: typeof Kind.Annotation; payload: PartialText | Failure | Cancellation }
  );

export type Item = UserMessage | AssistantMessage | Reasoning | FunctionCall | FunctionCallOutput;

export type ParsedEntry =
  | { is: "known"; entry: KnownEntry }
  | { is: "unknown"; entry: Entry }
  | { is: "malformed"; reason: string };

/** Reads one frame. A known one has every member that its type promises. */
export function parseFrame(text: string): ParsedFrame {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { is: "malformed", reason: "not JSON" };
  }
  if (!isObject(value) || typeof value.type !== "string") {
    return { is: "malformed", reason: "no type" };
  }
  if (value.seq !== undefined && !Number.isSafeInteger(value.seq)) {
    return { is: "malformed", reason: `${value.type}: seq is no integer` };
  }
  if (!Object.hasOwn(serverShapes, value.type)) {
    return { is: "unknown", frame: value as unknown as UnknownFrame };
  }
  const frame = value as unknown as ServerFrame;
  let wrong = misfit(frame.payload, serverShapes[frame.type]);
  if (!wrong && frame.type === ServerType.RunEntry) {
    wrong = misfit(frame.payload.entry, entryShape);
  }
  return wrong ? { is: "malformed", reason: `${frame.type}: ${wrong}` } : { is: "known", frame };
}

/** Reads one entry, of a frame or of a page of history. */
export function parseEntry(value: unknown): ParsedEntry {
  const wrong = misfit(value, entryShape);
  if (wrong) {
    return { is: "malformed", reason: wrong };
  }
  const entry = value as Entry;
  return isKnown(entry) ? { is: "known", entry } : { is: "unknown", entry };
}

function isKnown(entry: Entry): entry is KnownEntry {
  const payload: unknown = entry.payload;
  if (!isObject(payload)) {
    return false;
  }
  switch (entry.kind) {
    case Kind.Item:
      return Object.values<unknown>(ItemType).includes(payload.type);
    case Kind.Compaction:
      return typeof payload.summary === "string";
    case Kind.Annotation:
      return payload.partial === true || typeof payload.code === "string" || typeof payload.reason === "string";
    default:
      return false;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Says what is wrong with a value, "" when it has the shape. Members beyond it are welcome. */
function misfit(value: unknown, shape: Shape): string {
  if (!isObject(value)) {
    return "no object";
  }
  for (const [name, want] of Object.entries(shape)) {
    const member = value[name];
    const optional = want.endsWith("?");
    const [kind, nullable] = want.replace("?", "").split("|");
    if (member === undefined) {
      if (!optional) {
        return `${name} is missing`;
      }
    } else if (member === null ? kind !== "any" && !nullable : !fits(member, kind)) {
      return `${name} is not ${want}`;
    }
  }
  return "";
}

function fits(value: unknown, kind: string | undefined): boolean {
  switch (kind) {
    case "any":
      return true;
    case "array":
      return Array.isArray(value);
    case "object":
      return isObject(value);
    default:
      return typeof value === kind;
  }
}
