// Where things of the REST side are read.

export const base = "/api/v1";

/** Entries on one page. */
export const pageSize = 100;

export function enc(part: string): string {
  return encodeURIComponent(part);
}

export function sessionPath(id: string): string {
  return `/sessions/${enc(id)}`;
}

/** The newest entries, oldest first, or those before one. limit 0: all of them. */
export function messagesPath(id: string, limit: number, before: string): string {
  const query = (limit > 0 ? `limit=${limit}` : "") + (before === "" ? "" : `&before_id=${enc(before)}`);
  return `${sessionPath(id)}/messages?${query}`;
}

/** What every read says of itself. */
export function reading(token: string): RequestInit & { headers: Record<string, string> } {
  return { cache: "no-store", credentials: "omit", redirect: "error", headers: { Authorization: `Bearer ${token}` } };
}
