// Runs before the page's script is here. A chosen theme is there with the first paint, without
// a choice the stylesheet follows the system; and the session of the address is being read.

import { readEarly } from "./app/early.ts";

try {
  const theme = localStorage.getItem("hitchpost:theme");
  if (theme === "light" || theme === "dark") {
    document.documentElement.dataset["theme"] = theme;
  }
} catch {
  // no storage: the system's theme
}

try {
  readEarly(window);
} catch {
  // no storage, or an address that is none: the page says so
}
