// The tab: how many calls wait for a person, in its title and as a dot on its sign.

/** "(2) Fix the flaky replay test · Hitchpost" */
export function tabTitle(waiting: number, title: string): string {
  return (waiting > 0 ? `(${waiting}) ` : "") + (title === "" ? "Hitchpost" : `${title} · Hitchpost`);
}

const mark = `<path d="M4 2.5v15M16 2.5v15M4 7.5h12" fill="none" stroke="#2a5caa" stroke-width="2.6" stroke-linecap="round"/><circle cx="10" cy="12.6" r="2.7" fill="none" stroke="#2a5caa" stroke-width="1.8"/>`;
const dot = `<circle cx="15" cy="5" r="5" fill="#b5770c" stroke="#fff" stroke-width="1.5"/>`;

/** The sign of the tab, as a data link. */
export function favicon(waiting: number): string {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 20">${mark}${waiting > 0 ? dot : ""}</svg>`;
  return "data:image/svg+xml," + encodeURIComponent(svg);
}

/** Shows both. */
export function showTab(waiting: number, title: string): void {
  const words = tabTitle(waiting, title);
  if (document.title !== words) {
    document.title = words;
  }
  let link = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
  if (!link) {
    link = document.createElement("link");
    link.rel = "icon";
    document.head.append(link);
  }
  const href = favicon(waiting);
  if (link.href !== href) {
    link.href = href;
  }
}
