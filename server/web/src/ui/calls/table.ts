// The table of a display: rows under named columns, in one of a few plain shapes.

export interface Table {
  columns: readonly string[];
  rows: readonly (readonly string[])[];
  /** columns that hold numbers only: they stand right */
  numeric: readonly boolean[];
}

/**
 * Reads {columns, rows} with rows of arrays or objects, or an array of objects; from a
 * value or its JSON text. null when it is none of these.
 */
export function readTable(value: unknown): Table | null {
  const data = typeof value === "string" ? parsed(value) : value;
  let rows: unknown = data;
  let columns: string[] = [];
  if (isObject(data)) {
    rows = data.rows;
    columns = Array.isArray(data.columns) ? data.columns.map(cell) : [];
  }
  if (!Array.isArray(rows) || rows.length === 0 || !rows.every((row) => Array.isArray(row) || isObject(row))) {
    return null;
  }
  if (columns.length === 0) {
    const first: unknown = rows[0];
    if (!isObject(first)) {
      return null;
    }
    columns = Object.keys(first);
  }
  const cells = (rows as unknown[]).map((row) => columns.map((name, i) => cell(Array.isArray(row) ? row[i] : (row as Record<string, unknown>)[name])));
  const numeric = columns.map((_, i) => cells.every((row) => row[i] === "" || /^[-−+]?[\d.,\s\u202f]+( ?\S{1,4})?$/.test(row[i] ?? "")));
  return { columns, rows: cells, numeric };
}

function cell(value: unknown): string {
  return value === null || value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
