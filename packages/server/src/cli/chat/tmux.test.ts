// `rondo chat` in a real terminal.
import { fileURLToPath } from "node:url";
import { startModelServer } from "rondo/testing";
import { describe, expect, test, vi } from "vitest";
import { hasTmux, startInTmux } from "./testkit/tmux.ts";

vi.setConfig({ testTimeout: 60_000 });

if (!hasTmux) console.info("Left out: there is no tmux here, so the chat is not tried in a real terminal.");

const main = fileURLToPath(new URL("../main.ts", import.meta.url));
const chat = (...args: string[]) => [process.execPath, "--conditions=rondo-source", main, "chat", ...args];

describe.skipIf(!hasTmux)("in a terminal", () => {
  test("the answer streams, Ctrl-C interrupts it, and Ctrl-C again leaves", async () => {
    const { promise: more, resolve } = Promise.withResolvers<void>();
    await using server = await startModelServer([
      { text: ["Once upon", more, " a time."] },
      { text: "There was", stall: true },
    ]);
    const terminal = startInTmux(chat("--model-url", server.url));
    await terminal.sees(/^>$/m);
    terminal.press("Tell me", "Enter");
    expect(await terminal.sees("Once upon")).not.toContain("a time");
    resolve();
    await terminal.sees(/Once upon a time\.\n\d+\.\d s\n>$/);

    terminal.press("Up");
    await terminal.sees(/\n> Tell me$/);
    terminal.press(" more", "Enter");
    await terminal.sees(/> Tell me more\nThere was$/);
    terminal.press("C-c");
    await terminal.sees(/There was\ninterrupted · about \d+ tokens in, \d out · \d+\.\d s/);
    expect(server.requests[1]?.body.messages.at(-1)).toEqual({ role: "user", content: "Tell me more" });

    terminal.press("C-c");
    await terminal.sees(/\nleft with 130$/);
    terminal.press("echoed again");
    await terminal.sees(/\nechoed again$/);
  });

  test("a paste of several lines is one prompt, and Ctrl-D leaves", async () => {
    await using server = await startModelServer(["Three lines."]);
    const terminal = startInTmux(chat("--model-url", server.url));
    await terminal.sees(/^>$/m);
    terminal.paste("one\n  two\nthree\n");
    await terminal.sees("> one␤  two␤three");
    terminal.press("Enter");
    await terminal.sees(/Three lines\.\n\d+\.\d s\n>$/);
    expect(server.requests[0]?.body.messages).toEqual([{ role: "user", content: "one\n  two\nthree" }]);
    terminal.press("C-d");
    await terminal.sees(/\nleft with 0$/);
  });

  test("there are colours, and none with NO_COLOR", async () => {
    await using server = await startModelServer({ thinking: "Hm.", text: "Yes." });
    const [coloured, plain] = [
      startInTmux(chat("--model-url", server.url, "Hi"), { NO_COLOR: "" }),
      startInTmux(chat("--model-url", server.url, "Hi"), { NO_COLOR: "1" }),
    ];
    await Promise.all([coloured.sees(/\n>$/), plain.sees(/\n>$/)]);
    // Dim until the answer, and again behind it.
    expect(coloured.colours()).toContain("Hm.\n\u001b[0m");
    expect(coloured.colours()).toContain("Yes.\n\u001b[2m");
    expect(coloured.screen()).toMatch(/\nHm\.\nYes\.\n/);
    expect(plain.colours()).toBe(plain.screen());
    expect(plain.screen()).toMatch(/\nthinking: Hm\.\nYes\.\n/);
  });

  test("Markdown, Tab and Ctrl-R", async () => {
    const table = "| name | n |\n|---|--:|\n| **Ada** | 1 |\n";
    await using server = await startModelServer([`# Sums\n- it is **42**\n\n${table}`, "Again."]);
    const terminal = startInTmux(chat("--model-url", server.url), { NO_COLOR: "" });
    await terminal.sees(/^>$/m);
    terminal.press("What is it?", "Enter");
    await terminal.sees(/\nSums\n• it is 42\n\nname │ n\n─────┼──\nAda {2}│ 1\n\d+\.\d s\n>$/);
    expect(terminal.colours()).toContain("it is \u001b[1m42");
    terminal.press("/hel", "Tab");
    await terminal.sees(/\n> \/help$/);
    terminal.press("C-u", "C-r", "what");
    await terminal.sees(/\n\(search: what\) What is it\?$/);
    terminal.press("Enter");
    await terminal.sees(/\n> What is it\?\nAgain\.\n/);
    expect(server.requests[1]?.body.messages.at(-1).content).toBe("What is it?");
  });
});
