// Hooks with tags: observe some tools, or one tool, without changing any
import { hook, tool } from "rondo";

const readFile = tool(
  { name: "read_file", description: "Read a file.", input: { path: String }, tags: ["disk"] },
  async ({ path }) => `the text of ${path}`,
);
const deleteFile = tool(
  { name: "delete_file", description: "Delete a file.", input: { path: String }, tags: ["disk", "danger"] },
  async ({ path }) => `${path} is gone`,
);
const add = tool(
  { name: "add", description: "Add two numbers.", input: { a: Number, b: Number } },
  async ({ a, b }) => a + b,
);

// Global, for every tool with the tag "disk".
hook("tool.beforeInvoke", async (input, { tool }) => console.log(`  disk: ${tool?.name}`, input["path"]), {
  tags: ["disk"],
});

// Global too. A hook that throws stops the tool before it runs.
const guard = hook(
  "tool.beforeInvoke",
  async (input) => {
    if (String(input["path"]).startsWith("/etc/")) throw new Error("hands off /etc");
  },
  { tags: ["danger"] },
);

// For one tool only, with its types. It runs before the global ones.
add.afterInvoke(async (sum) => console.log(`  a sum: ${sum.toFixed(1)}`));

console.log(await readFile.execute({ path: "notes.txt" }));
// →   disk: read_file notes.txt
// → the text of notes.txt
console.log(await add.execute({ a: 1, b: 2 }));
// →   a sum: 3.0
// → 3
await deleteFile.execute({ path: "/etc/hosts" }).catch((error: Error) => console.log(error.message));
// →   disk: delete_file /etc/hosts
// → hands off /etc

guard.unregister();
console.log(await deleteFile.execute({ path: "/etc/motd" }));
// →   disk: delete_file /etc/motd
// → /etc/motd is gone
