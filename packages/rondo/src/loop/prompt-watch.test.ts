import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Message } from "../model/message.ts";
import { commonProfile } from "../model/profiles.ts";
import type { ModelProvider, Usage } from "../model/provider.ts";
import type { OpenAITool } from "../tool/tool.ts";
import { PromptWatch } from "./prompt-watch.ts";

const toolOf = (name: string): OpenAITool => ({
  type: "function",
  function: { name, description: `Does ${name}.`, parameters: { type: "object", properties: {} } },
});
const modelOf = (contextWindow?: number): ModelProvider => ({
  name: "test",
  endpoint: "http://127.0.0.1/v1",
  profile: {
    ...commonProfile,
    sendReasoning: "reasoning",
    ...(contextWindow !== undefined && { contextWindow }),
  },
  countsPrompts: true,
  stream: async function* () {},
});
const user = (content: string): Message => ({ role: "user", content });
const says = (content: string, reasoning?: string): Message => ({
  role: "assistant",
  content,
  ...(reasoning && { reasoning }),
});

describe("a prompt that does not begin with the one before", () => {
  const tools = [toolOf("add"), toolOf("look")];
  const messages = [user("One"), says("1"), user("Two")];
  const change = (request: { messages?: Message[]; tools?: OpenAITool[] }) => {
    const watch = new PromptWatch();
    expect(watch.send({ messages, tools })).toBeUndefined();
    return watch.send({ messages: [...messages, says("2"), user("Three")], tools, ...request });
  };

  test("is told by its first message or tool that differs", () => {
    expect(change({})).toBeUndefined();
    expect(change({ messages: structuredClone([...messages, says("2")]) })).toBeUndefined();
    expect(change({ messages: [user("One"), says("I"), user("Two")] })).toMatchObject({
      part: "messages",
      index: 1,
      message: expect.stringContaining("message 1 (assistant) is another"),
    });
    expect(change({ messages: messages.slice(0, 2) })?.message).toContain("it ends before message 2");
    expect(change({ tools: [...tools, toolOf("new")] })).toMatchObject({
      part: "tools",
      index: 2,
      message: expect.stringContaining("the tool 'new' is new"),
    });
    expect(change({ tools: tools.toReversed() })?.message).toContain("the tool 'add' is not in its place");
    expect(change({ tools: tools.slice(0, 1) })?.message).toContain("the tool 'look' is not in its place");
    const other = { ...toolOf("add"), function: { ...toolOf("add").function, description: "Sums up." } };
    expect(change({ tools: [other, toolOf("look")] })?.message).toContain("'add' has another definition");
  });

  test.each<[what: string, message: Message]>([
    ["text", user("x".repeat(100))],
    ["an image", { role: "user", content: [{ type: "image_url", image_url: { url: "x".repeat(100) } }] }],
    ["thinking", says("", "x".repeat(100))],
    [
      "a call",
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "1", type: "function", function: { name: "add", arguments: "x".repeat(100) } }],
      },
    ],
  ])("is not told after a long one, with much of %s, was forgotten", (_, message) => {
    const watch = new PromptWatch();
    watch.send({ messages: [message] });
    watch.forgetLonger(100);
    expect(watch.send({ messages: [user("Other")] })).toMatchObject({ index: 0 });
    watch.send({ messages: [message, user("and more")] });
    watch.forgetLonger(100);
    expect(watch.send({ messages: [user("Other")] })).toBeUndefined();
  });

  test("is not told once it was forgotten", () => {
    const watch = new PromptWatch();
    watch.send({ messages, tools });
    watch.forget();
    expect(watch.send({ messages: [user("New")] })).toBeUndefined();
  });
});

// Tokenizers that differ as those of models do.
const words = (text: string) => text.match(/[\p{L}\p{N}]+|[^\s\p{L}\p{N}]+/gu) ?? [];
const tokenizers: Record<string, (text: string) => number> = {
  "three characters": (text) => Math.ceil(text.length / 3),
  "five characters": (text) => Math.ceil(text.length / 5),
  words: (text) => words(text).length,
  "pieces of words": (text) => words(text).reduce((sum, word) => sum + Math.ceil(word.length / 4), 0),
};
const tokenizer = fc.constantFrom(...Object.values(tokenizers));

/** The tokens of a prompt, by a template that drops the thinking before the last prompt. */
function countPrompt(
  messages: readonly Message[],
  tools: readonly OpenAITool[],
  count: (text: string) => number,
) {
  const lastUser = messages.findLastIndex(({ role }) => role === "user");
  let tokens = 8 + (tools.length > 0 ? count(JSON.stringify(tools)) : 0);
  for (const [index, message] of messages.entries()) {
    tokens += 5 + count(typeof message.content === "string" ? message.content : "");
    if (message.role !== "assistant") continue;
    for (const call of message.tool_calls ?? []) tokens += 6 + count(JSON.stringify(call.function));
    if (message.reasoning && index > lastUser) tokens += count(message.reasoning);
  }
  return tokens;
}

const latin = fc
  .array(fc.stringMatching(/^[a-z]{1,12}$/), { minLength: 1, maxLength: 80 })
  .map((it) => it.join(" "));
const text = fc.oneof(
  latin,
  latin.map((it) => it.replaceAll(" ", "")),
  fc.array(fc.integer({ min: 0, max: 1_000_000 }), { maxLength: 60 }).map((it) => JSON.stringify(it)),
  fc.string({ unit: fc.constantFrom("界", "語", "文", "、"), maxLength: 200 }),
  fc.string({ unit: "binary", maxLength: 80 }),
  fc.nat(3000).map((length) => "=".repeat(length)),
  fc.nat(3000).map((length) => "a ".repeat(length)),
  fc.base64String({ maxLength: 2000 }),
);
const turn = fc.record({
  asked: text,
  thought: fc.option(text, { nil: undefined }),
  result: text,
  said: text,
});
const conversation = fc.array(turn, { minLength: 1, maxLength: 8 });

/** The requests of a conversation: after each prompt, and after each result of a tool. */
function requestsOf(
  turns: readonly { asked: string; thought: string | undefined; result: string; said: string }[],
) {
  const messages: Message[] = [{ role: "system", content: "Be brief." }];
  return turns.flatMap(({ asked, thought, result, said }, index) => {
    messages.push(user(asked));
    const first = [...messages];
    const call = { id: `${index}`, type: "function", function: { name: "look", arguments: "{}" } } as const;
    messages.push({ ...says("", thought), tool_calls: [call] } as Message);
    messages.push({ role: "tool", tool_call_id: `${index}`, content: result });
    const second = [...messages];
    messages.push(says(said));
    return [first, second];
  });
}

/** The thinking that the next prompt does not have is of no use to a cache, nor is what follows it. */
function withoutThinking(message: Message): Message {
  return message.role === "assistant" ? { ...message, reasoning: "" } : message;
}

/** How servers report what they counted. `cached` is what they had of the prompt before. */
const reports: Record<string, (tokens: number, cached: number) => Partial<Usage> | undefined> = {
  "the whole": (inputTokens) => ({ inputTokens }),
  "the whole, with cached tokens": (inputTokens, cachedTokens) => ({ inputTokens, cachedTokens }),
  "cached tokens apart": (tokens, cachedTokens) => ({ inputTokens: tokens - cachedTokens, cachedTokens }),
  "only what was not cached": (tokens, cached) => ({ inputTokens: tokens - cached }),
  "nothing cached": (inputTokens) => ({ inputTokens, cachedTokens: 0 }),
  zero: () => ({ inputTokens: 0 }),
  nothing: () => undefined,
};
const report = fc.constantFrom(...Object.values(reports));
const usageOf = (given: Partial<Usage>): Usage => ({
  inputTokens: 0,
  outputTokens: 1,
  totalTokens: 1,
  ...given,
});

describe("a server that reads the whole prompt", () => {
  test("is never taken for one that cuts, whatever it counts and reports", () => {
    const cold = fc.array(fc.boolean(), { minLength: 16, maxLength: 16 });
    const tools = fc.constantFrom([], [toolOf("look"), toolOf("add")]);
    fc.assert(
      fc.property(
        conversation,
        tokenizer,
        report,
        tools,
        cold,
        fc.boolean(),
        (turns, count, tell, offered, isCold, hasWindow) => {
          const model = modelOf(hasWindow ? 1_000_000 : undefined);
          const watch = new PromptWatch();
          let before = 0;
          for (const [index, messages] of requestsOf(turns).entries()) {
            watch.send({ messages, tools: offered });
            const tokens = countPrompt(messages, offered, count);
            const given = tell(tokens, isCold[index] ? 0 : Math.max(0, Math.min(tokens, before) - 5));
            before = countPrompt(messages.map(withoutThinking), offered, count);
            expect(given && watch.receive(model, usageOf(given))).toBeUndefined();
          }
        },
      ),
      { numRuns: 1000, endOnFailure: true },
    );
  });
});

describe("a server that drops the beginning of a prompt", () => {
  const word = fc.stringMatching(/^[a-z]{2,9}$/);
  const prose = (length: number) =>
    fc.array(word, { minLength: length, maxLength: length }).map((it) => it.join(" "));

  test("is seen if the cut is more than 10 %, and at most a seventh of the prompt is new", () => {
    fc.assert(
      fc.property(
        prose(1200),
        fc.array(prose(40), { minLength: 4, maxLength: 8 }),
        fc.integer({ min: 10, max: 200 }).chain(prose),
        tokenizer,
        fc.integer({ min: 11, max: 95 }),
        (first, middle, last, count, percent) => {
          const model = modelOf();
          const watch = new PromptWatch();
          const messages = [user(first)];
          let before = 0;
          for (const said of middle) {
            watch.send({ messages });
            const tokens = countPrompt(messages, [], count);
            expect(
              watch.receive(model, usageOf({ inputTokens: tokens, cachedTokens: before })),
            ).toBeUndefined();
            before = tokens;
            messages.push(says(said), user(said));
          }
          messages.push(user(last));
          watch.send({ messages });
          const tokens = countPrompt(messages, [], count);
          fc.pre(7 * (tokens - before) <= tokens);
          const inputTokens = Math.floor(tokens * (1 - percent / 100));
          expect(watch.receive(model, usageOf({ inputTokens, cachedTokens: 8 }))).toMatchObject({
            reportedTokens: inputTokens,
          });
        },
      ),
      { numRuns: 200, endOnFailure: true },
    );
  });

  test("is seen without cached counts too, once its counts have grown with the prompts", () => {
    const model = modelOf();
    const watch = new PromptWatch();
    const messages = [user("some words of a story ".repeat(300))];
    for (let round = 0; round < 4; round += 1) {
      watch.send({ messages });
      expect(watch.receive(model, usageOf({ inputTokens: 1500 + round * 20 }))).toBeUndefined();
      messages.push(says("It goes on and on."), user("Go on."));
    }
    watch.send({ messages });
    const cut = watch.receive(model, usageOf({ inputTokens: 1300 }));
    expect(cut).toMatchObject({ reportedTokens: 1300, expectedTokens: expect.any(Number) });
    expect(cut?.message).toContain("read only 1300 tokens of a prompt that has at least");
    // A cut prompt is no measure for the next one.
    watch.send({ messages: [...messages, says("On."), user("Go on.")] });
    expect(watch.receive(model, usageOf({ inputTokens: 1580 }))).toBeUndefined();
  });

  test("is seen in the very first answer if the window cannot hold the prompt", () => {
    const model = modelOf(512);
    const watch = new PromptWatch();
    watch.send({ messages: [user("some words of a long story ".repeat(1000))] });
    expect(watch.receive(model, usageOf({ inputTokens: 500 }))?.message).toContain("(its window: 512)");
  });

  test("is not guessed at for a provider whose counts are of several requests", () => {
    const { countsPrompts: _, ...model } = modelOf(512);
    const watch = new PromptWatch();
    watch.send({ messages: [user("some words of a long story ".repeat(1000))] });
    expect(watch.receive(model, usageOf({ inputTokens: 500 }))).toBeUndefined();
  });
});
