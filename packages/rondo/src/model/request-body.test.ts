import { describe, expect, test } from "vitest";
import { tool } from "../tool/define.ts";
import type { OpenAITool } from "../tool/tool.ts";
import type { Message } from "./message.ts";
import type { ModelProfile } from "./profile.ts";
import { commonProfile } from "./profiles.ts";
import type { ModelRequest } from "./provider.ts";
import { requestBody } from "./request-body.ts";

const hello: Message[] = [{ role: "user", content: "Hello!" }];
const toolOf = (name: string): OpenAITool => ({
  type: "function",
  function: { name, description: "", parameters: { type: "object" } },
});
const tools = [toolOf("add"), toolOf("now")];

/** The body as the server will see it. */
function bodyOf(request: Partial<ModelRequest>, profile: Partial<ModelProfile> = {}) {
  const { parts, toolNames } = requestBody({ messages: hello, ...request }, "m", {
    ...commonProfile,
    ...profile,
  });
  return { ...(JSON.parse(parts.join("")) as Record<string, unknown>), toolNames };
}

test("a plain request has no more than it needs", () => {
  expect(bodyOf({})).toEqual({
    model: "m",
    messages: hello,
    stream: true,
    stream_options: { include_usage: true },
    toolNames: [],
  });
});

test("a request for a whole answer asks for no stream", () => {
  const { parts, isWhole } = requestBody({ messages: hello }, "m", commonProfile, true);
  expect(isWhole).toBe(true);
  expect(JSON.parse(parts.join(""))).toEqual({ model: "m", messages: hello, stream: false });
});

test.each([{ stream: true }, { stream_options: { include_usage: false } }])(
  "a request whose extraBody speaks of a stream asks for one: %j",
  (extraBody) => {
    const request = { messages: hello, settings: { extraBody } };
    const { parts, isWhole } = requestBody(request, "m", commonProfile, true);
    expect(isWhole).toBe(false);
    expect(JSON.parse(parts.join(""))).toMatchObject({ stream: true, stream_options: {}, ...extraBody });
  },
);

test("settings have the names of the API, and those that are not set are left out", () => {
  const settings = { temperature: 0, maxTokens: 5, topP: 1, seed: 7, stop: ["."] };
  expect(bodyOf({ settings })).toMatchObject({
    temperature: 0,
    max_tokens: 5,
    top_p: 1,
    seed: 7,
    stop: ["."],
  });
});

test("extraBody wins, and can take a field away", () => {
  const extraBody = { temperature: 1, num_ctx: 8, stream: false, stream_options: undefined };
  const body = bodyOf({ settings: { temperature: 0, extraBody } });
  expect(body).toMatchObject({ temperature: 1, num_ctx: 8, stream: false });
  expect(body).not.toHaveProperty("stream_options");
});

test.each<[settings: unknown, field: string]>([
  [{ temperature: -0.1 }, "settings.temperature"],
  [{ temperature: 2.1 }, "settings.temperature"],
  [{ temperature: "1" }, "settings.temperature"],
  [{ temperature: Number.NaN }, "settings.temperature"],
  [{ maxTokens: 0 }, "settings.maxTokens"],
  [{ maxTokens: 1.5 }, "settings.maxTokens"],
  [{ topP: 2 }, "settings.topP"],
  [{ seed: 0.5 }, "settings.seed"],
  [{ stop: "." }, "settings.stop"],
  [{ extraBody: [] }, "settings.extraBody"],
  [{ max_tokens: 5 }, "settings.max_tokens"],
  [[], "settings"],
])("refuses the settings %j", (settings, field) => {
  expect(() => bodyOf({ settings: settings as never })).toThrow(expect.objectContaining({ field }));
});

describe("tools", () => {
  test("are sent unchanged, and left out when there are none", () => {
    expect(bodyOf({ tools })).toMatchObject({ tools, toolNames: ["add", "now"] });
    expect(bodyOf({ tools: [] })).not.toHaveProperty("tools");
  });

  test.each<[NonNullable<ModelRequest["toolChoice"]>, unknown]>([
    ["auto", "auto"],
    ["none", "none"],
    ["required", "required"],
    [{ name: "now" }, { type: "function", function: { name: "now" } }],
  ])("toolChoice %j", (toolChoice, choice) => {
    expect(bodyOf({ tools, toolChoice })).toMatchObject({ tools, tool_choice: choice });
  });

  test("toolChoice without tools is not sent", () => {
    expect(bodyOf({ toolChoice: "none" })).not.toHaveProperty("tool_choice");
  });

  test.each<[toolChoice: unknown, offered: OpenAITool[], words: string]>([
    ["required", [], "expected tools to choose from"],
    [{ name: "sub" }, tools, "expected one of the tools add, now"],
    [{ function: "add" }, tools, `expected "auto", "none", "required" or { name }`],
    ["always", tools, `expected "auto", "none", "required" or { name }`],
  ])("refuses toolChoice %j", (toolChoice, offered, words) => {
    expect(() => bodyOf({ tools: offered, toolChoice: toolChoice as never })).toThrow(words);
  });

  describe("where tool_choice is not honoured", () => {
    const profile = { honoursToolChoice: false };

    test("auto is the default", () => {
      const body = bodyOf({ tools, toolChoice: "auto" }, profile);
      expect(body).toMatchObject({ tools, messages: hello });
      expect(body).not.toHaveProperty("tool_choice");
    });

    test("none sends no tools", () => {
      expect(bodyOf({ tools, toolChoice: "none" }, profile)).toMatchObject({ toolNames: [] });
      expect(bodyOf({ tools, toolChoice: "none" }, profile)).not.toHaveProperty("tools");
    });

    test("required is said in words", () => {
      expect(bodyOf({ tools, toolChoice: "required" }, profile)).toMatchObject({
        tools,
        messages: [{ role: "system", content: "Answer with a call of one of the tools." }, ...hello],
      });
    });

    test("a named tool is the only one sent, with an instruction after the system message", () => {
      const messages: Message[] = [{ role: "system", content: "Be brief." }, ...hello];
      expect(bodyOf({ messages, tools, toolChoice: { name: "now" } }, profile)).toMatchObject({
        tools: [toolOf("now")],
        toolNames: ["now"],
        messages: [
          { role: "system", content: "Be brief.\n\nAnswer with a call of the tool 'now'." },
          ...hello,
        ],
      });
    });
  });
});

test("an output format is sent where the server can enforce it", () => {
  const output = { name: "point", schema: { type: "object" } };
  expect(bodyOf({ output }, { outputMode: "native" })).toMatchObject({
    response_format: { type: "json_schema", json_schema: { ...output, strict: true } },
  });
  expect(bodyOf({ output }, { outputMode: "tool" })).not.toHaveProperty("response_format");
});

test("a named tool is the only one offered, and required, where a choice cannot name it", () => {
  const body = bodyOf({ tools, toolChoice: { name: "now" } }, { namesToolChoice: false });
  expect(body).toMatchObject({ tool_choice: "required", tools: [toolOf("now")], toolNames: ["now"] });
});

test("an answer in a shape, without calls, is not searched for calls", () => {
  const output = { name: "answer", schema: { type: "object" } } as const;
  const body = bodyOf({ tools, toolChoice: "none", output }, { outputMode: "native" });
  expect(body).toMatchObject({ tool_choice: "none", tools, toolNames: [] });
});

test("any JSON object is a shape, too", () => {
  const body = bodyOf({ output: { name: "answer" } }, { outputMode: "native" });
  expect(body).toMatchObject({ response_format: { type: "json_object" } });
});

test("an extraBody with another model or other messages overrides them", () => {
  const extraBody = { messages: [{ role: "user", content: "Bye." }], model: "n" };
  expect(bodyOf({ settings: { extraBody } })).toMatchObject(extraBody);
});

test("an extraBody with other tools, or none, overrides them", () => {
  const others = { tools: [toolOf("other")] };
  expect(bodyOf({ tools, settings: { extraBody: others } })).toMatchObject(others);
  expect(bodyOf({ tools, settings: { extraBody: { tools: undefined } } })).not.toHaveProperty("tools");
});

test("tools that were written before are the same, beside those that somebody wrote by hand", () => {
  const add = tool("add", "Adds.", { a: Number, b: Number }, ({ a, b }) => a + b);
  const given = () => [add.toOpenAI(), toolOf("by_hand")];
  for (let time = 0; time < 2; time++) expect(bodyOf({ tools: given() })).toMatchObject({ tools: given() });
  const changes: ((tool: OpenAITool) => void)[] = [
    (it) => (it.function.name = "sum"),
    (it) => (it.function.description = "Sums."),
    (it) => Object.assign(it.function, { strict: true }),
    (it) => Object.assign(it, { own: 1 }),
    (it) => (it.function.parameters = { type: "object" }),
    (it) => Reflect.deleteProperty(it.function, "description"),
    (it) => Reflect.set(it.function, "parameters", undefined),
  ];
  for (const change of changes) {
    const changed = add.toOpenAI();
    change(changed);
    const sent = JSON.parse(JSON.stringify([changed])) as unknown;
    expect(bodyOf({ tools: [changed] })).toHaveProperty("tools", sent);
    expect(bodyOf({ tools: given() })).toMatchObject({ tools: given() });
  }
});

test("an extraBody that takes everything away leaves the model and the messages", () => {
  const extraBody = { stream: undefined, stream_options: undefined };
  expect(bodyOf({ settings: { extraBody } })).toEqual({ model: "m", messages: hello, toolNames: [] });
});
