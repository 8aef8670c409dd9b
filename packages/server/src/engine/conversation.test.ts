// What a model reads of the items of a request and of the responses before it.

import fc from "fast-check";
import type { Message } from "rondo";
import { describe, expect, test } from "vitest";
import { Executors } from "../executor/executors.ts";
import { emptyOffer } from "../executor/offer.ts";
import type { InputItem } from "../protocol/items.ts";
import { withApprovals } from "./approvals.ts";
import { type Entry, type MessagesOptions, toMessages } from "./conversation.ts";
import { sealer } from "./seal.ts";

const messagesOf = (items: readonly object[], options?: MessagesOptions) => {
  const entries = items.map((item) => ({ item: item as InputItem }));
  const executors = new Executors({});
  return toMessages(
    withApprovals([], entries, emptyOffer, { sealer: sealer(["key"], "ada"), executors }).entries,
    options,
  );
};
const user = (content: unknown) => ({ type: "message", role: "user", content });
const said = (content: unknown) => ({ type: "message", role: "assistant", content });
const called = (id: string, name = "f", text = "{}") => ({
  type: "function_call",
  call_id: id,
  name,
  arguments: text,
});
const output = (id: string, value: unknown) => ({ type: "function_call_output", call_id: id, output: value });
const toolCall = (id: string, name = "f", text = "{}") => ({
  id,
  type: "function",
  function: { name, arguments: text },
});

describe("a message", () => {
  test("of a user is text where it is text alone, and parts where it is not", () => {
    const image = { type: "input_image", image_url: "https://example.com/a.png", detail: "high" };
    const nested = { type: "input_image", image_url: { url: "data:image/png;base64,AA" }, detail: "auto" };
    const text = { type: "input_text", text: "Look" };
    expect(
      messagesOf([user("Hi"), user([text, { ...text, text: " here" }]), user([text, image, nested])]),
    ).toEqual([
      { role: "user", content: "Hi" },
      { role: "user", content: "Look here" },
      {
        role: "user",
        content: [
          { type: "text", text: "Look" },
          { type: "image_url", image_url: { url: "https://example.com/a.png", detail: "high" } },
          { type: "image_url", image_url: { url: "data:image/png;base64,AA" } },
        ],
      },
    ]);
  });

  test("keeps what can be read, and tells of the rest", () => {
    const ignored: string[] = [];
    const parts = [
      { type: "input_file", file_id: "file_1" },
      { type: "input_text", text: "Read" },
    ];
    const items = [user(parts), { type: "agent_message", text: "x" }];
    expect(messagesOf(items, { onIgnored: (what) => ignored.push(what) })).toEqual([
      { role: "user", content: "Read" },
    ]);
    expect(ignored).toEqual([
      `a content part of the type "input_file"`,
      "an item of the type 'agent_message'",
    ]);
  });

  test("of the developer or the system goes first with the instructions, and later stays where it is", () => {
    const developer = (content: unknown) => ({ type: "message", role: "developer", content });
    const items = [
      developer("Be kind."),
      { type: "message", role: "system", content: [{ type: "input_text", text: "Be brief." }] },
      user("Hi"),
      developer("Be wise."),
    ];
    expect(messagesOf(items, { instructions: "Be good." })).toEqual([
      { role: "system", content: "Be good.\n\nBe kind.\n\nBe brief." },
      { role: "user", content: "Hi" },
      { role: "system", content: "Be wise." },
    ]);
  });

  test("of the assistant is text, also where it is a refusal", () => {
    const parts = [
      { type: "output_text", text: "No: " },
      { type: "refusal", refusal: "I may not." },
    ];
    expect(messagesOf([user("Do"), said(parts)])).toEqual([
      { role: "user", content: "Do" },
      { role: "assistant", content: "No: I may not." },
    ]);
  });
});

describe("an answer", () => {
  const reasoning = (text: string) => ({
    type: "reasoning",
    summary: [],
    content: [{ type: "reasoning_text", text }],
  });

  test("is one message with its thought, its text and its calls, and the results in the order of the calls", () => {
    const items = [
      user("Go"),
      reasoning("Hm."),
      said("A moment"),
      called("a", "f", '{"x":1}'),
      called("b", "g", ""),
      output("b", "2"),
      output("a", "1"),
      said("Done"),
    ];
    expect(messagesOf(items)).toEqual([
      { role: "user", content: "Go" },
      {
        role: "assistant",
        content: "A moment",
        reasoning: "Hm.",
        tool_calls: [toolCall("a", "f", '{"x":1}'), toolCall("b", "g")],
      },
      { role: "tool", tool_call_id: "a", name: "f", content: "1" },
      { role: "tool", tool_call_id: "b", name: "g", content: "2" },
      { role: "assistant", content: "Done" },
    ]);
  });

  test("ends where an output follows its calls", () => {
    const items = [user("Go"), called("a"), output("a", "1"), called("b"), output("b", "2")];
    expect(messagesOf(items).map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "tool",
      "assistant",
      "tool",
    ]);
  });

  test("has all outputs of a call in one message, in their order", () => {
    const image = { type: "input_image", image_url: "https://example.com/a.png" };
    const items = [
      user("Go"),
      called("a"),
      called("b"),
      output("a", "1"),
      output("b", "2"),
      output("a", [{ type: "input_text", text: "more" }, image]),
      said("Done"),
      output("a", "and more"),
    ];
    expect(messagesOf(items)).toMatchObject([
      { role: "user" },
      { role: "assistant", tool_calls: [{ id: "a" }, { id: "b" }] },
      { role: "tool", tool_call_id: "a", content: "1\nmore\nand more" },
      { role: "tool", tool_call_id: "b", content: "2" },
      { role: "user", content: [{ type: "text" }, { type: "image_url" }] },
      { role: "assistant", content: "Done" },
    ]);
  });

  test("keeps further outputs with their call where an id is used again", () => {
    const items = [
      user("Go"),
      called("c"),
      output("c", "1"),
      output("c", "2"),
      said("So"),
      called("c"),
      output("c", "3"),
      output("c", "4"),
    ];
    expect(messagesOf(items).filter(({ role }) => role === "tool")).toMatchObject([
      { content: "1\n2" },
      { content: "3\n4" },
    ]);
  });

  test("is told apart from an output without a call, which is an error that names the open calls", () => {
    const lost = { type: "custom_tool_call_output", call_id: "x", output: "1" };
    expect(() => messagesOf([user("Go"), called("a"), output("a", "1"), lost])).toThrow(
      "No tool call found for custom tool call output with call_id x. Send the call with it",
    );
    expect(() => messagesOf([user("Go"), called("a"), called("b"), output("y", "1")])).toThrow(
      "No tool call found for function call output with call_id y. The calls without an output are a, b. Use the call_id of the response's item",
    );
  });

  test("may use the ids of an earlier one again", () => {
    const items = [user("Go"), called("c"), output("c", "1"), said("So"), called("c"), output("c", "2")];
    expect(messagesOf(items).filter(({ role }) => role === "tool")).toMatchObject([
      { content: "1" },
      { content: "2" },
    ]);
  });

  test("of this server stays whole, whatever the order of its items", () => {
    const entry = (item: object, group: string): Entry => ({ item: item as InputItem, group });
    const messages = toMessages([
      entry(said("One"), "r 0"),
      entry(reasoning("Then"), "r 0"),
      entry(said(" two"), "r 0"),
      entry(said("Three"), "r 1"),
    ]);
    expect(messages).toEqual([
      { role: "assistant", content: "One two", reasoning: "Then" },
      { role: "assistant", content: "Three" },
    ]);
  });

  test("shows the server's calls with what they gave, or why they failed", () => {
    const mcp = (id: string, rest: object) => ({
      type: "mcp_call",
      id,
      name: "clock",
      arguments: "{}",
      ...rest,
    });
    const items = [
      mcp("mcp_1", { output: "12:00", error: null }),
      mcp("mcp_2", { output: null, error: "broken" }),
      mcp("mcp_3", { output: null, error: { type: "http_error", code: 500, message: "no" } }),
      mcp("mcp_4", {}),
    ];
    expect(messagesOf(items).slice(1)).toMatchObject([
      { tool_call_id: "mcp_1", content: "12:00" },
      { tool_call_id: "mcp_2", content: "broken" },
      { tool_call_id: "mcp_3", content: "no" },
      { tool_call_id: "mcp_4", content: "The outcome of this call is not known." },
    ]);
  });

  test("has custom calls as calls with one text", () => {
    const items = [
      { type: "custom_tool_call", call_id: "a", name: "shell", input: "ls -l" },
      { type: "custom_tool_call_output", call_id: "a", output: "file" },
    ];
    expect(messagesOf(items)).toMatchObject([
      { tool_calls: [toolCall("a", "shell", '{"input":"ls -l"}')] },
      { tool_call_id: "a", content: "file" },
    ]);
  });

  test("of a thought alone is left out", () => {
    expect(messagesOf([user("Go"), reasoning("Hm."), user("Well?")])).toHaveLength(2);
  });
});

describe("the output of a call", () => {
  test("gives its images to the model in a message after the results", () => {
    const parts = [
      { type: "input_text", text: "A chart" },
      { type: "input_image", image_url: "data:image/png;base64,AA" },
    ];
    expect(messagesOf([called("a"), called("b"), output("a", parts), output("b", "text")]).slice(1)).toEqual([
      { role: "tool", tool_call_id: "a", name: "f", content: "A chart" },
      { role: "tool", tool_call_id: "b", name: "f", content: "text" },
      {
        role: "user",
        content: [
          { type: "text", text: "The images that the tools gave:" },
          { type: "image_url", image_url: { url: "data:image/png;base64,AA" } },
        ],
      },
    ]);
  });

  test("without its call is refused", () => {
    expect(() => messagesOf([user("Hi"), output("call_9", "1")])).toThrow(
      expect.objectContaining({
        status: 400,
        param: "input",
        message: expect.stringContaining("No tool call found for function call output with call_id call_9"),
      }),
    );
  });

  test("must not be missing, unless nobody was to run the call", () => {
    expect(() => messagesOf([called("a"), called("b"), output("a", "1")])).toThrow(
      expect.objectContaining({
        status: 400,
        message: expect.stringMatching(/^No tool output found for function call b\./),
      }),
    );
    expect(toMessages([{ item: called("a"), group: "r 0", isClosed: true }])).toMatchObject([
      { role: "assistant" },
      { role: "tool", tool_call_id: "a", content: "This call was not run." },
    ]);
  });
});

describe("a sealed thought", () => {
  const ada = sealer(["secret"], "ada");
  const thoughtOf = (sealed: string, unseal = ada.unseal) => {
    const item = { type: "reasoning", summary: [], encrypted_content: sealed };
    const [message] = messagesOf([item, said("Yes")], { unseal });
    return message && "reasoning" in message ? message.reasoning : undefined;
  };

  test("is read again, and looks different each time", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: "grapheme" }), (thought) => {
        expect(thoughtOf(ada.seal("reasoning", thought))).toBe(thought);
      }),
    );
    expect(ada.seal("reasoning", "Hm")).not.toBe(ada.seal("reasoning", "Hm"));
    expect(ada.seal("reasoning", "A secret thought")).not.toContain("secret");
  });

  test("of another owner, of another server or that was changed is not read", () => {
    const sealed = ada.seal("reasoning", "Hm, m");
    expect(thoughtOf(sealed, sealer(["secret"], "bob").unseal)).toBeUndefined();
    expect(thoughtOf(sealed, sealer(["other"], "ada").unseal)).toBeUndefined();
    // A new secret is put before the old one.
    const renewed = sealer(["new", "secret"], "ada");
    expect(renewed.unseal("reasoning", sealed)).toBe(ada.unseal("reasoning", sealed));
    expect(ada.unseal("reasoning", renewed.seal("reasoning", "later"))).toBeUndefined();
    fc.assert(
      fc.property(
        fc.nat(sealed.length - 1),
        fc.constantFrom("A", "a", "0", "-", "_", ".", "!"),
        (at, letter) => {
          const changed = sealed.slice(0, at) + letter + sealed.slice(at + 1);
          // The last letter holds bits that mean nothing.
          fc.pre(changed !== sealed && at < sealed.length - 1);
          expect(ada.unseal("reasoning", changed)).toBeUndefined();
        },
      ),
    );
    fc.assert(fc.property(fc.string(), (text) => ada.unseal("reasoning", text) === undefined));
  });

  test.each(["compaction", "credentials"] as const)("is not read as %s", (kind) => {
    expect(ada.unseal(kind, ada.seal("reasoning", "Hm"))).toBeUndefined();
    expect(thoughtOf(ada.seal(kind, "Hm"))).toBeUndefined();
  });

  test("is better than the summary, which is better than nothing", () => {
    const item = { type: "reasoning", summary: [{ type: "summary_text", text: "In short" }] };
    expect(messagesOf([item, said("Yes")])[0]).toMatchObject({ reasoning: "In short" });
    const both = { ...item, encrypted_content: ada.seal("reasoning", "At length") };
    expect(messagesOf([both, said("Yes")], ada)[0]).toMatchObject({ reasoning: "At length" });
    expect(messagesOf([both, said("Yes")])[0]).toMatchObject({ reasoning: "In short" });
  });
});

// Any history that a client can have: calls get their outputs somewhere after them, ids may come back.
const word = fc.string({ minLength: 1, maxLength: 6, unit: fc.constantFrom("a", "b", " ") });
const turn = fc.record({
  kind: fc.constantFrom("user", "developer", "answer", "answer", "thought"),
  text: word,
  hasText: fc.boolean(),
  hasThought: fc.boolean(),
  calls: fc.array(fc.record({ kind: fc.constantFrom("function", "custom", "mcp"), order: fc.nat(9) }), {
    maxLength: 4,
  }),
  reusesIds: fc.boolean(),
});

test("any history becomes one that a model server accepts, and nothing of it is lost", () => {
  fc.assert(
    fc.property(fc.array(turn, { maxLength: 12 }), (turns) => {
      let serial = 0;
      const words: string[] = [];
      const mark = (text: string) => {
        const marked = `${text}#${serial++};`;
        words.push(marked);
        return marked;
      };
      const items = turns.flatMap(({ kind, text, hasText, hasThought, calls, reusesIds }) => {
        if (kind === "user" || kind === "developer")
          return [{ type: "message", role: kind, content: mark(text) }];
        const hasMore = hasText || calls.length > 0;
        const thought = (hasThought || kind === "thought") && {
          type: "reasoning",
          summary: [],
          content: [{ type: "reasoning_text", text: hasMore ? mark(text) : "alone" }],
        };
        const made = calls.map(({ kind: type, order }, index) => {
          const id = reusesIds ? `call_${index}` : `call_${serial++}`;
          const name =
            type === "custom" ? { input: mark("in") } : { arguments: JSON.stringify({ x: mark("in") }) };
          const callType = { function: "function_call", custom: "custom_tool_call", mcp: "mcp_call" }[type];
          const ids = type === "mcp" ? { id, output: mark("out") } : { call_id: id };
          const call = { type: callType, name: "f", ...ids, ...name };
          const result = type !== "mcp" && { type: `${callType}_output`, call_id: id, output: mark("out") };
          return { call, result, order };
        });
        const results = made.toSorted((a, b) => a.order - b.order).map(({ result }) => result);
        return [
          thought,
          hasText && said([{ type: "output_text", text: mark(text) }]),
          ...made.map(({ call }) => call),
          ...results,
        ].filter((item) => item !== false);
      });
      const messages = messagesOf(items);
      expect(flawsOf(messages)).toEqual([]);
      const text = JSON.stringify(messages).replaceAll("\\", "");
      expect(words.filter((it) => !text.includes(it))).toEqual([]);
    }),
    { numRuns: 300 },
  );
});

/** What a model server would refuse: calls and results that are not in step. */
function flawsOf(messages: readonly Message[]): string[] {
  const flaws: string[] = [];
  let expected: string[] = [];
  for (const message of messages) {
    if (message.role === "tool") {
      const id = expected.shift();
      if (id !== message.tool_call_id)
        flaws.push(`expected the result of ${id}, got ${message.tool_call_id}`);
      continue;
    }
    if (expected.length > 0) flaws.push(`no result of ${expected.join()} before a ${message.role} message`);
    expected = message.role === "assistant" ? (message.tool_calls ?? []).map(({ id }) => id) : [];
    if (message.role === "assistant" && !message.content && expected.length === 0)
      flaws.push("an empty answer");
  }
  return expected.length > 0 ? [...flaws, `no result of ${expected.join()}`] : flaws;
}
