import type { SessionRow } from "../../state/types.ts";
import { Menu } from "../menu.tsx";
import { usePage } from "../page.ts";
import { titleOf } from "../words.ts";
import { askDelete, askRename, copyLink, pin } from "./acts.ts";

export function RowMenu({ row }: { row: SessionRow }) {
  const page = usePage();
  const watchOnly = page.me.value?.allow.includes("admin") === false ? "This token does not allow it" : "";
  return (
    <Menu
      label={`More for ${titleOf(row)}`}
      class="icon small"
      entries={[
        { label: "Rename", act: () => askRename(page, row), off: watchOnly },
        { label: row.pinned ? "Unpin" : "Pin", act: () => void pin(page, row), off: watchOnly },
        { label: "Mark unread", act: () => page.local.setReadMark(row.id, row.newsSeq - 1) },
        { label: "Copy link", act: () => copyLink(row) },
        { label: "Delete", act: () => askDelete(page, row), bad: true, apart: true, off: watchOnly },
      ]}
    />
  );
}
