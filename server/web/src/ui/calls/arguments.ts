// The arguments of a call: what a person should read first, and all of it, exactly.

export interface Arguments {
  /** name of the main field; "" = none */
  name: string;
  /** its text; "" when there is none */
  main: string;
  /** there are other fields than the main one */
  more: boolean;
  /** what they are when they are an object, else empty */
  fields: Readonly<Record<string, unknown>>;
}

// What says most about a call, best first.
const mainFields = ["command", "cmd", "file_path", "path", "pattern", "url", "query", "prompt", "description"];

/** Reads the arguments; text that is no JSON object is its own main field. */
export function readArguments(text: string): Arguments {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { name: "", main: text, more: false, fields: {} };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return { name: "", main: text, more: false, fields: {} };
  }
  const fields = value as Record<string, unknown>;
  const names = Object.keys(fields);
  const name = mainFields.find((n) => typeof fields[n] === "string") ?? "";
  const main = fields[name];
  return { name, main: typeof main === "string" ? main : "", more: names.length > (name === "" ? 0 : 1), fields };
}

/** One line about a call: its main field, else its arguments as they are. */
export function subject(text: string): string {
  const { main, more } = readArguments(text);
  return (main !== "" ? main : more ? text : "").replace(/\s+/g, " ").slice(0, 300);
}

/**
 * Indents JSON text without reading it: every token stays as it was sent, also a number
 * too long for a double and a name that stands twice.
 */
export function indented(json: string): string {
  let out = "";
  let depth = 0;
  const newline = (): string => "\n" + "  ".repeat(depth);
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\[\s\S])*"|[{}[\],:]|[^\s{}[\],:"]+|"/g)) {
    if (token === "{" || token === "[") {
      depth++;
      out += token + newline();
    } else if (token === "}" || token === "]") {
      depth = Math.max(0, depth - 1);
      out = /[{[]\s*$/.test(out) ? out.trimEnd() + token : out + newline() + token;
    } else if (token === ",") {
      out += token + newline();
    } else {
      out += token === ":" ? ": " : token;
    }
  }
  return out;
}
