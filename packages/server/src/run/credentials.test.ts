// The credentials that requests bring for MCP servers, in the store: sealed while a run may need them, then gone.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { sqliteStore } from "../store/sqlite/sqlite-store.ts";
import { tempFolder } from "../store/testkit/temp-folder.ts";
import { Conversations } from "./conversations.ts";
import { call, started } from "./testkit/mcp.ts";
import { collector, lastResponse, never, plain } from "./testkit/service.ts";
import { inShort } from "./testkit/tools.ts";

const token = "tok-0123456789";

function diskStore() {
  const folder = tempFolder();
  onTestFinished(() => folder[Symbol.dispose]());
  const path = join(folder.path, "rondo.db");
  const store = sqliteStore({ path });
  onTestFinished(() => store.close());
  /** All bytes that are on the disk. */
  const onDisk = () => [path, `${path}-wal`].map((file) => readFileSync(file, "latin1")).join("");
  return { store, path, onDisk };
}

const inNamespace = (tool: object) => ({ type: "namespace", name: "inner", tools: [tool] });

test("of a background run are sealed while it waits and works, serve it, and are gone at its end", async () => {
  const { store, path, onDisk } = diskStore();
  const released = Promise.withResolvers<void>();
  const { service, notebook, free } = await started({
    script: [{ calls: [call("look")] }, "Done."],
    store,
    gate: () => released.promise,
  });
  const secret = {
    ...free,
    server_url: `${free.server_url}?key=${token}-3`,
    authorization: token,
    headers: { "x-key": `${token}-2` },
  };
  const input = [
    { role: "user", content: "Go" },
    { type: "additional_tools", tools: [{ ...secret, server_label: "more" }] },
    { type: "tool_search_output", tools: [inNamespace({ ...secret, server_label: "found" })] },
  ];
  const arrived = notebook.arrival("look");
  const prepared = await service.prepare("ada", { model: "test", background: true, tools: [secret], input });
  const { id } = await service.enqueue(prepared);
  await arrived;
  const reader = new DatabaseSync(path, { readOnly: true });
  onTestFinished(() => reader.close());
  const kept = () => reader.prepare("SELECT sealed FROM credentials").all();
  expect(kept()).toHaveLength(1);
  expect(onDisk()).not.toContain(token);

  released.resolve();
  const sink = collector();
  await service.follow("ada", id, -1, sink, never);
  expect(inShort(lastResponse(sink.events).output).at(-2)).toBe("look: look 1 done");
  expect(JSON.stringify(sink.events)).not.toContain(token);
  expect(notebook.urls.every((url) => url.endsWith(`?key=${token}-3`))).toBe(true);
  for (const headers of notebook.headers) {
    expect(headers.get("authorization")).toBe(`Bearer ${token}`);
    expect(headers.get("x-key")).toBe(`${token}-2`);
  }
  expect(kept()).toEqual([]);
  expect(onDisk()).not.toContain(token);
});

test("of other requests and of conversations are not kept at all", async () => {
  const { store, path, onDisk } = diskStore();
  const writer = new DatabaseSync(path);
  writer.exec("CREATE TRIGGER refuse BEFORE INSERT ON credentials BEGIN SELECT raise(ABORT, 'kept'); END");
  writer.close();
  const { service, free } = await started({ script: () => "Hi.", store });
  const more = { type: "additional_tools", tools: [{ ...free, server_label: "more", authorization: token }] };
  await plain(service, {
    input: [{ role: "user", content: "Go" }, more],
    tools: [{ ...free, authorization: token }],
  });
  const named = (server_label: string) => ({ ...free, server_label, authorization: token });
  const found = { type: "tool_search_output", tools: [named("found"), inNamespace(named("nested"))] };
  const { id: last, tools } = await plain(service, {
    input: [{ role: "user", content: "Go" }, found],
    tools: [inNamespace({ ...free, authorization: token })],
  });
  expect(JSON.stringify(tools)).not.toContain(token);
  const shown = await service.inputItems("ada", last, { limit: 10, order: "asc" });
  expect(JSON.stringify(shown)).toContain("nested");
  expect(JSON.stringify(shown)).not.toContain(token);
  const conversations = new Conversations({ store, limits: { maxItems: 100 } });
  const { id } = await conversations.create("ada", { items: [more, found] });
  await conversations.addItems("ada", id, { items: [more] });
  await store.check();
  expect(onDisk()).toContain('"more"');
  expect(onDisk()).not.toContain(token);
});
