// Runs before the first paint: a chosen theme is there at once. Without a choice the
// stylesheet follows the system.

try {
  const theme = localStorage.getItem("hitchpost:theme");
  if (theme === "light" || theme === "dark") {
    document.documentElement.dataset["theme"] = theme;
  }
} catch {
  // no storage: the system's theme
}

export {};
