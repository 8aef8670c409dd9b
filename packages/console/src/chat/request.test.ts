import { describe, expect, test } from "vitest";
import type { ToolInfo } from "../api/inspect-types.ts";
import { imagesOf, otherPartsOf } from "./item-text.ts";
import { type RequestParts, schemaProblem, toRequest, userMessage } from "./request.ts";
import type { ChatSettings } from "./settings.ts";

const plain: ChatSettings = {
  model: "demo",
  instructions: "",
  temperature: "",
  maxOutputTokens: "",
  effort: "",
  schema: "",
  tools: {},
};

const parts: RequestParts = {
  settings: plain,
  tools: [],
  functions: [],
  input: [userMessage("Hi", [])],
  after: null,
  source: "console",
  isStored: true,
};

const requestWith = (settings: Partial<ChatSettings>, more: Partial<RequestParts> = {}) =>
  toRequest({ ...parts, ...more, settings: { ...plain, ...settings } });

function toolInfo(name: string, label: string | null, is_offered = true): ToolInfo {
  const kind = label === null ? "sandbox" : label === "local" ? "local" : "mcp";
  const rest = { description: "", input_schema: {}, requires_approval: false };
  return { ...rest, name, kind, server_label: label, is_offered };
}

describe("a request", () => {
  test("leaves everything that was not set to the server", () => {
    expect(toRequest(parts)).toEqual({
      model: "demo",
      input: [{ type: "message", role: "user", content: "Hi" }],
      stream: true,
      store: true,
      metadata: { source: "console" },
    });
    // The models may not be known yet.
    expect(requestWith({ model: "" })).not.toHaveProperty("model");
  });

  test("of an edited message keeps what the page does not show of it", () => {
    const file = { type: "input_file", filename: "a.pdf" };
    const image = { type: "input_image", image_url: "https://other.example/a.png" };
    const own = { type: "input_image", image_url: "data:image/png;base64,AAAA" };
    const content = [{ type: "input_text", text: "Hi" }, own, file, image];
    const message = { type: "message", role: "user", content };
    expect(imagesOf(message)).toEqual([own.image_url]);
    expect(otherPartsOf(message)).toEqual([file, image]);
    expect(userMessage("Hi!", [], otherPartsOf(message)).content).toEqual([
      { type: "input_text", text: "Hi!" },
      file,
      image,
    ]);
  });

  test("follows a response or a conversation", () => {
    expect(requestWith({}, { after: { response: "resp_1" } })).toMatchObject({
      previous_response_id: "resp_1",
    });
    expect(requestWith({}, { after: { conversation: "conv_1" } })).toMatchObject({ conversation: "conv_1" });
  });

  test("has the settings", () => {
    const settings = { instructions: "Be brief.", temperature: "0", maxOutputTokens: "9", effort: "low" };
    expect(requestWith(settings)).toMatchObject({
      instructions: "Be brief.",
      temperature: 0,
      max_output_tokens: 9,
      reasoning: { effort: "low" },
    });
    expect(requestWith({ schema: '{"type":"object"}' })).toMatchObject({
      text: { format: { type: "json_schema", schema: { type: "object" } } },
    });
    expect(() => requestWith({ schema: "[1]" })).toThrow("A JSON schema is an object");
    expect(schemaProblem("{")).toContain("not valid JSON");
  });

  test("names a server only if its tools are not as it offers them", () => {
    const tools = [
      toolInfo("add", "local"),
      toolInfo("double", "local"),
      toolInfo("search", "wiki", false),
      toolInfo("look", "notes"),
      toolInfo("code_interpreter", null, false),
      toolInfo("shell", null, false),
    ];
    const entries = (chosen: Record<string, boolean>) => requestWith({ tools: chosen }, { tools })["tools"];
    expect(entries({ "local/add": true, "wiki/search": false })).toBe(undefined);
    expect(entries({ "local/add": false, "wiki/search": true, "notes/look": false })).toEqual([
      { type: "mcp", server_label: "local", allowed_tools: ["double"] },
      { type: "mcp", server_label: "wiki", allowed_tools: ["search"] },
      { type: "mcp", server_label: "notes", allowed_tools: [] },
    ]);
    expect(entries({ "sandbox/code_interpreter": true, "sandbox/shell": true })).toEqual([
      { type: "code_interpreter", container: { type: "auto" } },
      { type: "shell", environment: { type: "container_auto" } },
    ]);
  });
});
