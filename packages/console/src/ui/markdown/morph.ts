// Makes nodes like others, and touches only what differs: the rest need not be laid out again, and stays selected.

/** Makes `old` like `fresh`. Returns the node that is now in its place. */
export function morph(old: Node, fresh: Node): Node {
  if (old.isEqualNode(fresh)) return old;
  if (old instanceof Text && fresh instanceof Text) {
    old.data = fresh.data;
    return old;
  }
  if (!old.cloneNode(false).isEqualNode(fresh.cloneNode(false))) {
    old.parentNode?.replaceChild(fresh, old);
    return fresh;
  }
  const had = [...old.childNodes];
  const wanted = [...fresh.childNodes];
  for (const [index, node] of wanted.entries()) {
    const before = had[index];
    if (before) morph(before, node);
    else old.appendChild(node);
  }
  for (const node of had.slice(wanted.length)) old.removeChild(node);
  return old;
}
