import { describe, expect, test } from "vitest";
import type { Message } from "./message.ts";
import type { ModelProfile } from "./profile.ts";
import { commonProfile } from "./profiles.ts";
import { wireMessages } from "./wire-messages.ts";
import { messagesJson } from "./written-messages.ts";

const wire = (messages: Message[], profile: Partial<ModelProfile> = {}) =>
  wireMessages(messages, { ...commonProfile, ...profile });

const callOf = (text: string, id = "call00000") => ({
  id,
  type: "function" as const,
  function: { name: "add", arguments: text },
});

test("an empty system message is left out", () => {
  const user: Message = { role: "user", content: "" };
  expect(wire([{ role: "system", content: "" }, user])).toEqual([user]);
  expect(wire([{ role: "system", content: " " }, user])).toHaveLength(2);
});

test("parts of a user's message and results of tools go through as they are", () => {
  const messages: Message[] = [
    { role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,AA==" } }] },
    { role: "assistant", content: "", tool_calls: [callOf("{}")] },
    { role: "tool", tool_call_id: "call00000", name: "add", content: "42" },
  ];
  expect(wire(messages)).toEqual(messages);
});

describe("an assistant's message", () => {
  test("always has content", () => {
    expect(wire([{ role: "assistant", content: null, tool_calls: [callOf('{"a":1}')] }])).toEqual([
      { role: "assistant", content: "", tool_calls: [callOf('{"a":1}')] },
    ]);
  });

  test("without calls has no list of them, which some servers refuse when it is empty", () => {
    expect(wire([{ role: "assistant", content: "Hi.", tool_calls: [] }])).toEqual([
      { role: "assistant", content: "Hi." },
    ]);
  });

  test.each(["", "{broken", "[1]", "null", "5", '{"a":1'])("does not pass on the arguments %j", (text) => {
    expect(wire([{ role: "assistant", content: "", tool_calls: [callOf(text)] }])).toMatchObject([
      { tool_calls: [callOf("{}")] },
    ]);
  });

  test.each<[ModelProfile["sendReasoning"], object]>([
    ["none", { content: "42" }],
    ["reasoning", { content: "42", reasoning: "Hm." }],
    ["reasoning_content", { content: "42", reasoning_content: "Hm." }],
    ["think-tags", { content: "<think>\nHm.\n</think>\n\n42" }],
  ])("sends its reasoning back as the profile says: %s", (sendReasoning, expected) => {
    const message: Message = { role: "assistant", content: "42", reasoning: "Hm." };
    expect(wire([message], { sendReasoning })).toEqual([{ role: "assistant", ...expected }]);
    expect(wire([{ ...message, reasoning: "" }], { sendReasoning })).toEqual([
      { role: "assistant", content: "42" },
    ]);
  });

  test("has the tags of its profile around its reasoning", () => {
    const profile = { sendReasoning: "think-tags", thinkTags: [["[THINK]", "[/THINK]"]] } as const;
    expect(wire([{ role: "assistant", content: "42", reasoning: "Hm." }], profile)).toMatchObject([
      { content: "[THINK]\nHm.\n[/THINK]\n\n42" },
    ]);
    expect(
      wire([{ role: "assistant", content: null, reasoning: "Hm." }], { ...profile, thinkTags: [] }),
    ).toMatchObject([{ content: "<think>\nHm.\n</think>\n\n" }]);
  });
});

describe("the ids of calls", () => {
  const answer = (...calls: ReturnType<typeof callOf>[]): Message => ({
    role: "assistant",
    content: "",
    tool_calls: calls,
  });
  const result = (id: string): Message => ({ role: "tool", tool_call_id: id, content: "3" });

  test("are numbered, so that a prompt has no random text in it", () => {
    const random = [
      answer(callOf("{}", "a1"), callOf("{}", "b2")),
      result("b2"),
      result("a1"),
      answer(callOf("{}", "a1")), // models use ids again
      result("a1"),
    ];
    expect(wire(random)).toMatchObject([
      { tool_calls: [{ id: "call00000" }, { id: "call00001" }] },
      { tool_call_id: "call00001" },
      { tool_call_id: "call00000" },
      { tool_calls: [{ id: "call00002" }] },
      { tool_call_id: "call00002" },
    ]);
  });

  test("are those of Kimi for Kimi", () => {
    const messages = [answer(callOf("{}", "a1"), callOf("{}", "b2")), result("b2")];
    expect(wire(messages, { callIds: "functions" })).toMatchObject([
      { tool_calls: [{ id: "functions.add:0" }, { id: "functions.add:1" }] },
      { tool_call_id: "functions.add:1" },
    ]);
  });

  test("and their arguments are the same bytes, however they were written", () => {
    const texts = ['{"a":1,"b":[2]}', '{ "a": 1,\n "b": [ 2 ] }'];
    const [one, other] = texts.map((text, index) => wire([answer(callOf(text, `${index}`))]));
    expect(one).toEqual(other);
  });
});

test("the messages that were given are not changed", () => {
  const messages: Message[] = [
    { role: "assistant", content: null, tool_calls: [callOf("")], reasoning: "Hm." },
  ];
  const before = structuredClone(messages);
  wire(messages, { sendReasoning: "think-tags" });
  expect(messages).toEqual(before);
});

test.each<[unknown, string]>([
  ["Hi", "messages"],
  [undefined, "messages"],
  [[], "messages"],
  [[null], "messages[0]"],
  [[{ role: "user", content: "" }, { role: "robot" }], "messages[1]"],
])("refuses the messages %j", (messages, field) => {
  expect(() => messagesJson(messages as Message[], commonProfile)).toThrow(
    expect.objectContaining({ field }),
  );
});

test("prompts in a row are sent as one, because many chat templates want the roles to alternate", () => {
  const image = { type: "image_url" as const, image_url: { url: "https://example.org/x.png" } };
  expect(
    wireMessages(
      [
        { role: "user", content: "One" },
        { role: "user", content: "two" },
        { role: "assistant", content: "Fine." },
        { role: "user", content: "See" },
        { role: "user", content: [image] },
      ],
      commonProfile,
    ),
  ).toEqual([
    { role: "user", content: "One\n\ntwo" },
    { role: "assistant", content: "Fine." },
    { role: "user", content: [{ type: "text", text: "See" }, image] },
  ]);
});
