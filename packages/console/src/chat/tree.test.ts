import { describe, expect, test } from "vitest";
import { branchesOf, newestLeaf, pathTo, type TreeNode } from "./tree.ts";

/** `id previous`, in the order of their creation. */
function tree(...nodes: string[]): ReadonlyMap<string, TreeNode> {
  return new Map(
    nodes.map((text, index) => {
      const [id = "", previous = null] = text.split(" ");
      return [id, { id, previous, createdAtMs: index }];
    }),
  );
}

const ids = (nodes: readonly TreeNode[]) => nodes.map(({ id }) => id).join(" ");

describe("the tree of a chat", () => {
  const chat = tree("a", "b a", "c b", "d a", "e d", "f");

  test("has a path to each response", () => {
    expect(ids(pathTo(chat, "c"))).toBe("a b c");
    expect(ids(pathTo(chat, "e"))).toBe("a d e");
    expect(ids(pathTo(chat, undefined))).toBe("");
  });

  test("has branches where a message was edited, also at its beginning", () => {
    const of = (id: string) => ids(branchesOf(chat, chat.get(id) as TreeNode));
    expect(of("d")).toBe("b d");
    expect(of("c")).toBe("c");
    expect(of("f")).toBe("a f");
  });

  test("goes on to the newest response of a branch, or of all", () => {
    expect(newestLeaf(chat, "a")).toBe("e");
    expect(newestLeaf(chat, "b")).toBe("c");
    expect(newestLeaf(chat)).toBe("f");
    expect(newestLeaf(tree())).toBe(undefined);
  });

  test("ends also if a response was deleted, or if its links make a circle", () => {
    const broken = tree("b a", "c b");
    expect(ids(pathTo(broken, "c"))).toBe("b c");
    expect(ids(branchesOf(broken, broken.get("b") as TreeNode))).toBe("b");
    const circle = tree("a b", "b a");
    expect(ids(pathTo(circle, "a"))).toBe("b a");
    expect(newestLeaf(circle, "a")).toBe("a");
  });
});
