import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Message } from "../model/message.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { tool } from "../tool/define.ts";
import { ResultFitter } from "./fit-results.ts";
import { run } from "./run.ts";

const long = Array.from({ length: 2000 }, (_, line) => `line ${line} of the report`).join("\n");
const report = tool({ name: "report", description: "Reports.", registry: false }, async () => long);
const prompt: Message[] = [{ role: "user", content: "Report." }];
const toolMessages = (messages: readonly Message[] = []) => messages.filter((it) => it.role === "tool");

async function messagesOf(events: AsyncIterable<unknown>, all: Message[]) {
  for await (const _ of events);
  return all;
}

describe("a long result", () => {
  test("is read on without anybody's permission, unlike the tool itself", async () => {
    using model = scriptedModel([
      { calls: [{ name: "report" }] },
      { calls: [{ name: "read_result", input: { id: "result_0", offset: 1500 } }] },
      { calls: [{ name: "read_result", input: { id: "result_7", offset: 0 } }] },
      "Read.",
    ]);
    const all: Message[] = [...prompt];
    const events = run(prompt, {
      model,
      tools: [report],
      maxResultTokens: 500,
      decideCall: ({ name }) => ({ type: "reject", error: `${name} needs permission` }),
      onMessage: (message) => all.push(message),
    });
    await messagesOf(events, all);
    expect(toolMessages(all).map(({ content }) => content)).toEqual([
      expect.stringContaining("report needs permission"),
      expect.stringContaining("There is nothing at offset 1500"),
      expect.stringContaining("There is no result with the id 'result_7'"),
    ]);
  });

  test("reaches the model as beginning, end and how to get the rest, and stays whole elsewhere", async () => {
    const reads = (offset: number) => ({
      calls: [{ name: "read_result", input: { id: "result_0", offset } }],
    });
    using model = scriptedModel([{ calls: [{ name: "report" }] }, reads(0), reads(1), "Read."]);
    const all: Message[] = [...prompt];
    const events = run(prompt, {
      model,
      tools: [report],
      maxResultTokens: 500,
      onMessage: (message) => all.push(message),
    });
    await messagesOf(events, all);
    const [whole, ...parts] = toolMessages(all);
    expect(whole?.content).toBe(long);
    const [shown] = toolMessages(model.requests[1]?.messages);
    expect(shown?.content.length).toBeLessThan(3000);
    expect(shown?.content).toMatch(/^line 0 of the report\n/);
    expect(shown?.content).toMatch(
      /characters are left out here\. To read on, call read_result with \{"id":"result_0","offset":\d+\}/,
    );
    expect(shown?.content).toMatch(/line 1999 of the report$/);
    expect(parts.map(({ content }) => long.includes(content.split("\n\n[")[0] ?? ""))).toEqual([true, true]);
    // Offered from the start, because the limit was chosen: the beginning of the prompt never changes.
    expect(new Set(model.requests.map(({ tools }) => JSON.stringify(tools))).size).toBe(1);
    for (const [index, { messages }] of model.requests.entries())
      expect(messages.slice(0, model.requests[index - 1]?.messages.length ?? 0)).toEqual(
        model.requests[index - 1]?.messages ?? [],
      );
  });

  test("gets its reader when it is needed, with the limit of the window by default", async () => {
    const profile = { contextWindow: 2000 };
    using model = scriptedModel([{ calls: [{ name: "report" }] }, "Read."], { profile });
    await messagesOf(run(prompt, { model, tools: [report] }), []);
    expect(model.requests.map(({ tools }) => tools?.map((it) => it.function.name))).toEqual([
      ["report"],
      ["report", "read_result"],
    ]);
    expect(toolMessages(model.requests[1]?.messages)[0]?.content.length).toBeLessThan(3000);
  });

  test("is left as it is without a limit, and a tool of the same name keeps its name", async () => {
    const own = tool({ name: "read_result", description: "Mine.", registry: false }, async () => "mine");
    using model = scriptedModel([{ calls: [{ name: "report" }, { name: "read_result" }] }, "Read."]);
    const options = { model, tools: [report, own], maxResultTokens: Number.POSITIVE_INFINITY };
    await messagesOf(run(prompt, options), []);
    expect(toolMessages(model.requests[1]?.messages).map(({ content }) => content)).toEqual([long, "mine"]);
  });
});

test("whatever the text, the parts that are read on add up to it, and each fits", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "binary", maxLength: 3000 }),
      fc.integer({ min: 5, max: 200 }),
      (text, limit) => {
        const fitter = new ResultFitter(limit, "read_result");
        let read = "";
        for (let count = 0; read.length < text.length && count < text.length; count += 1) {
          const part = fitter.read(text, "result_0", read.length);
          const note =
            /\n\n\[\d+ characters are left out here\. To read on, [^\n]*"offset":(\d+)\}\.\]$/.exec(part);
          read += note ? part.slice(0, note.index) : part;
          expect(note ? Number(note[1]) : text.length).toBe(read.length);
        }
        expect(read).toBe(text);
      },
    ),
  );
});
