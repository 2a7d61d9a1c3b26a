// Makes what stands in the page equal to what should stand there, and touches nothing that
// already is: a grown text gets what it grew by, so a selection in it lives on.

/** Makes the nodes of a parent that are live equal to next; they stay in one row. */
export function morph(parent: Node, live: readonly Node[], next: readonly Node[], before: Node | null): Node[] {
  const nodes: Node[] = [];
  for (const [i, wanted] of next.entries()) {
    const there = live[i];
    nodes.push(there ? morphNode(parent, there, wanted) : parent.insertBefore(wanted, before));
  }
  for (const surplus of live.slice(next.length)) {
    parent.removeChild(surplus);
  }
  return nodes;
}

function morphNode(parent: Node, live: Node, next: Node): Node {
  if (live.nodeType === 3 && next.nodeType === 3) {
    grow(live as Text, (next as Text).data);
    return live;
  }
  if (live.nodeType !== 1 || next.nodeType !== 1 || live.nodeName !== next.nodeName) {
    parent.replaceChild(next, live);
    return next;
  }
  attributes(live as Element, next as Element);
  (live as HTMLElement).onclick = (next as HTMLElement).onclick; // it knows what came since
  morph(live, [...live.childNodes], [...next.childNodes], null);
  return live;
}

function grow(live: Text, text: string): void {
  if (live.data === text) {
    return;
  }
  if (text.startsWith(live.data)) {
    live.appendData(text.slice(live.data.length));
  } else {
    live.data = text;
  }
}

function attributes(live: Element, next: Element): void {
  for (const { name } of [...live.attributes]) {
    if (!next.hasAttribute(name)) {
      live.removeAttribute(name);
    }
  }
  for (const { name, value } of next.attributes) {
    if (live.getAttribute(name) !== value) {
      live.setAttribute(name, value);
    }
  }
}

/** Whether next is live and more behind it: then a morph only appends. */
export function onlyGrows(live: readonly Node[], next: readonly Node[]): boolean {
  return next.length >= live.length && live.every((node, i) => {
    const wanted = next[i] as Node;
    if (i < live.length - 1) {
      return node.isEqualNode(wanted);
    }
    if (node.nodeType === 3 && wanted.nodeType === 3) {
      return (wanted as Text).data.startsWith((node as Text).data);
    }
    return node.isEqualNode(wanted) ||
      (node.nodeType === 1 && node.nodeName === wanted.nodeName && onlyGrows([...node.childNodes], [...wanted.childNodes]));
  });
}
