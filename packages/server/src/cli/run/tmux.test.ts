// `rondo run` and `rondo responses` in a real terminal.
import { fileURLToPath } from "node:url";
import { scriptedModel, startModelServer } from "rondo/testing";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { resolveConfig } from "../../config/check-config.ts";
import { folderWith } from "../../config/testkit/folder.ts";
import { startServer } from "../../http/server.ts";
import { hasTmux, startInTmux } from "../chat/testkit/tmux.ts";

vi.setConfig({ testTimeout: 60_000 });

if (!hasTmux) console.info("Left out: there is no tmux here, so runs are not tried in a real terminal.");

const main = fileURLToPath(new URL("../main.ts", import.meta.url));
const rondo = (...args: string[]) => [process.execPath, "--conditions=rondo-source", main, ...args];

describe.skipIf(!hasTmux)("in a terminal", () => {
  test("an answer is shown as it streams, and Ctrl-C stops the run", async () => {
    await using server = await startModelServer({
      thinking: "Hm.",
      text: ["Once upon", new Promise(() => {})],
    });
    using folder = folderWith({ "story.md": "Tell me a story." });
    const terminal = startInTmux(rondo("run", `${folder.path}/story.md`, "--model-url", server.url), {
      NO_COLOR: "",
    });
    await terminal.sees(/^Hm\.\nOnce upon$/);
    expect(terminal.colours()).toContain("\u001b[2mHm.");
    terminal.press("C-c");
    await terminal.sees(/^Hm\.\nOnce upon\^C\ninterrupted · \d+\.\d s\nleft with 130$/);
  });

  test("a followed response has a progress line, which is removed at the end", async () => {
    const gate = Promise.withResolvers<void>();
    const model = scriptedModel({ waitFor: gate.promise, text: "At last." });
    const server = await startServer(
      resolveConfig({ port: 0, store: "memory", models: { model }, log: { level: "silent" }, shutdownMs: 0 }),
    );
    onTestFinished(() => server.close());
    const made = await fetch(`${server.url}/v1/responses`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ input: "Hi", background: true }),
    });
    const { id } = (await made.json()) as { id: string };
    const terminal = startInTmux(rondo("responses", "follow", id, "--server", server.url));
    await terminal.sees(/^\S waiting$/);
    gate.resolve();
    expect(
      await terminal.sees(
        /^At last\.\n\d+ tokens in, \d+ out · \d+\.\d s(?: · \d+ tokens\/s)?\nleft with 0$/,
      ),
    ).not.toContain("waiting");
  });
});
