import { Menu } from "../menu.tsx";
import { tell } from "../dialog.tsx";
import { KeyList } from "../keys.tsx";
import type { Theme } from "../local.ts";
import { usePage } from "../page.ts";

const themes: readonly { theme: Theme; label: string }[] = [
  { theme: "system", label: "Theme of the system" },
  { theme: "light", label: "Light" },
  { theme: "dark", label: "Dark" },
];

export function AccountMenu() {
  const { local, act } = usePage();
  return (
    <Menu
      label="Account and theme"
      class="icon small"
      entries={[
        ...themes.map(({ theme, label }) => ({ label, checked: local.theme() === theme, act: () => local.setTheme(theme) })),
        { label: "Single-letter keys", on: local.singleKeys(), act: () => local.setSingleKeys(!local.singleKeys()), apart: true },
        { label: "All keys", act: () => tell("Keys", <KeyList />) },
        { label: "Sign out", hint: "In all tabs. Drafts in this browser are forgotten", act: () => act.signOut(), apart: true },
      ]}
    />
  );
}
