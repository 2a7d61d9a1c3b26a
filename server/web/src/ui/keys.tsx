// The keys of the page, by name.

const keys: readonly [string, string][] = [
  ["/", "Search"],
  ["N", "New session"],
  ["J  K", "Next, previous session"],
  ["[  ]", "Previous, next text of yours"],
  [".", "Go to the waiting approval"],
  ["L", "Log"],
  ["S", "Settings"],
  ["End", "Newest"],
  ["Ctrl/⌘ + .", "Stop"],
  ["?", "This list"],
  ["Esc", "Close the top layer, then leave the field"],
  ["Enter", "Send; Shift+Enter breaks the line"],
  ["Ctrl/⌘ + Enter", "Queue as Follow-up while a run is going"],
  ["↑", "In an empty box: take the newest waiting message back"],
  ["A  D", "Approve, deny: only with the focus inside the card"],
];

export function KeyList() {
  return (
    <dl class="keys">
      {keys.map(([key, does]) => (
        <>
          <dt><kbd>{key}</kbd></dt>
          <dd>{does}</dd>
        </>
      ))}
    </dl>
  );
}
