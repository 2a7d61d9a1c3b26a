// The theme before the first paint: a script of its own, run before the style is used.

try {
  const theme = localStorage.getItem("hitchpost:theme");
  if (theme === "light" || theme === "dark") {
    document.documentElement.dataset.theme = theme;
  }
} catch {
  // No storage: the system's theme.
}
