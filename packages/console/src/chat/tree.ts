// A chat is a tree: each response follows another, and editing a message begins a branch beside it.

export interface TreeNode {
  readonly id: string;
  /** The response before it; null for the first. */
  readonly previous: string | null;
  readonly createdAtMs: number;
}

export type Tree<T extends TreeNode> = ReadonlyMap<string, T>;

/** The nodes from the first to `leaf`. */
export function pathTo<T extends TreeNode>(tree: Tree<T>, leaf: string | undefined): T[] {
  const path: T[] = [];
  const seen = new Set<string>();
  for (let node = leaf === undefined ? undefined : tree.get(leaf); node && !seen.has(node.id); ) {
    seen.add(node.id);
    path.unshift(node);
    node = node.previous === null ? undefined : tree.get(node.previous);
  }
  return path;
}

/** The node and those beside it, the oldest first. */
export function branchesOf<T extends TreeNode>(tree: Tree<T>, node: T): readonly T[] {
  return childrenOf(tree, parentOf(tree, node));
}

/** Where a branch goes on to: from a node to the newest one that follows it; of the whole tree without a node. */
export function newestLeaf<T extends TreeNode>(tree: Tree<T>, from?: string): string | undefined {
  if (from === undefined) {
    const newest = [...tree.values()].reduce<T | undefined>(
      (best, node) => (best && best.createdAtMs > node.createdAtMs ? best : node),
      undefined,
    );
    return newest?.id;
  }
  const seen = new Set<string>();
  let leaf = from;
  while (!seen.has(leaf)) {
    seen.add(leaf);
    leaf = childrenOf(tree, leaf).at(-1)?.id ?? leaf;
  }
  return leaf;
}

/** The children of all nodes, by their parent: long chats ask for each of them. */
const families = new WeakMap<Tree<TreeNode>, Map<string | null, readonly TreeNode[]>>();

function childrenOf<T extends TreeNode>(tree: Tree<T>, parent: string | null): readonly T[] {
  const known = families.get(tree) ?? Map.groupBy(tree.values(), (node) => parentOf(tree, node));
  families.set(tree, known);
  const children = (known.get(parent) ?? []) as readonly T[];
  return children.toSorted((a, b) => a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1));
}

/** The one before was deleted: then it is a first one. */
function parentOf<T extends TreeNode>(tree: Tree<T>, { previous }: T): string | null {
  return previous !== null && tree.has(previous) ? previous : null;
}
