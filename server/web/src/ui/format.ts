// Numbers and times as the page says them. Times are local; `now` is the server's
// clock in milliseconds, as far as it is known.

const thin = "\u202f";
const weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** 4117 → "4 117" with a thin space. */
export function count(n: number): string {
  return String(n).replace(/\B(?=(\d{3})+$)/g, thin);
}

/** 1716 → "#1 716". */
export function position(seq: number): string {
  return "#" + count(seq);
}

/** 18432 tokens → "18.4k". */
export function tokens(n: number): string {
  if (n < 1_000) {
    return String(n);
  }
  return n < 100_000 ? trimmed(n / 1_000) + "k" : n < 1_000_000 ? Math.round(n / 1_000) + "k" : trimmed(n / 1_000_000) + "M";
}

function trimmed(x: number): string {
  return x.toFixed(1).replace(/\.0$/, "");
}

/** Dollars, as exact as they are small: "$0.031", "$12.40". */
export function cost(dollars: number): string {
  return "$" + dollars.toFixed(dollars >= 1 ? 2 : dollars >= 0.001 || dollars === 0 ? 3 : 5);
}

/** Size in bytes → "1.2 MB". */
export function size(bytes: number): string {
  const units = ["B", "kB", "MB", "GB"];
  let n = bytes;
  let u = 0;
  while (n >= 1_000 && u < units.length - 1) {
    n /= 1_000;
    u++;
  }
  return (u === 0 ? String(n) : trimmed(n)) + thin + units[u];
}

/** Milliseconds → "12 ms", "0.2 s", "41 s", "3 min 52 s", "2 h 5 min". */
export function duration(ms: number): string {
  const x = Math.max(1, ms); // the log has whole ones: nothing took no time
  if (Math.round(x) < 100) {
    return `${Math.round(x)} ms`;
  }
  if (x < 10 * second) {
    return trimmed(x / second) + " s";
  }
  const s = Math.round(x / second);
  if (s < 60) {
    return `${s} s`;
  }
  if (s < 3_600) {
    return s % 60 ? `${Math.floor(s / 60)} min ${s % 60} s` : `${s / 60} min`;
  }
  const m = Math.floor((s % 3_600) / 60);
  return m ? `${Math.floor(s / 3_600)} h ${m} min` : `${Math.floor(s / 3_600)} h`;
}

/** Running time: whole seconds, so that it ticks and does not flicker. */
export function elapsed(ms: number): string {
  const s = Math.max(0, Math.floor(ms / second));
  return s < 10 ? `${s} s` : duration(s * second);
}

/** How long ago, for the list: "now", "12 min", "1 h", "03:00", "yesterday", "Thu", "18 Aug". */
export function age(at: string, now: number): string {
  const then = Date.parse(at);
  const past = now - then;
  if (past < minute) {
    return "now";
  }
  if (past < hour) {
    return `${Math.floor(past / minute)} min`;
  }
  if (past < 6 * hour) {
    return `${Math.floor(past / hour)} h`;
  }
  return daysBetween(then, now) === 1 ? "yesterday" : when(at, now);
}

/** When it was: "14:06" today, "Thu" within the week, "18 Aug", "18 Aug 2025". */
export function when(at: string, now: number): string {
  const then = new Date(at);
  const days = daysBetween(then.getTime(), now);
  if (days === 0) {
    return clock(at);
  }
  if (days > 0 && days < 7) {
    return weekdays[then.getDay()] ?? "";
  }
  return date(at, now);
}

/** "18 Aug", with the year when it is another one. */
export function date(at: string, now: number): string {
  const then = new Date(at);
  const year = then.getFullYear();
  return `${then.getDate()} ${months[then.getMonth()] ?? ""}` + (year === new Date(now).getFullYear() ? "" : ` ${year}`);
}

/** "14:06" */
export function clock(at: string): string {
  const t = new Date(at);
  return `${two(t.getHours())}:${two(t.getMinutes())}`;
}

/** "14:06:31" */
export function exactClock(at: string): string {
  return `${clock(at)}:${two(new Date(at).getSeconds())}`;
}

/** The full instant, for a title: "Thu 18 Aug 2026, 14:06:31". */
export function instant(at: string): string {
  const t = new Date(at);
  if (Number.isNaN(t.getTime())) {
    return at;
  }
  return `${weekdays[t.getDay()] ?? ""} ${t.getDate()} ${months[t.getMonth()] ?? ""} ${t.getFullYear()}, ${exactClock(at)}`;
}

/** "1 call", "2 calls" */
export function plural(n: number, one: string, many = one + "s"): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

function two(n: number): string {
  return String(n).padStart(2, "0");
}

function daysBetween(then: number, now: number): number {
  return Math.round((midnight(now) - midnight(then)) / day);
}

function midnight(at: number): number {
  const t = new Date(at);
  t.setHours(0, 0, 0, 0);
  return t.getTime();
}
