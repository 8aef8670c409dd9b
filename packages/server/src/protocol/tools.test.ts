import { describe, expect, test } from "vitest";
import { echoedTools } from "./create-request.ts";
import { read, refusalOf } from "./testkit/requests.ts";
import { checkForcedTool } from "./tool-choice.ts";

const f = (name: string) => ({ type: "function", name });
const oneText = {
  type: "object",
  properties: { input: { type: "string", description: "The whole text for the tool, as one JSON string." } },
  required: ["input"],
  additionalProperties: false,
};

describe("the tools of a request", () => {
  test("are kept as they came", () => {
    const tools = [
      { type: "function", name: "f", description: "d", parameters: { type: "object" }, strict: false, x: 1 },
      { type: "mcp", server_label: "s", server_url: "https://example.org/mcp" },
      { type: "code_interpreter", container: { type: "auto" } },
      { type: "web_search" },
    ];
    expect(read({ tools }).tools).toEqual(tools);
  });

  test("are functions of one text if they are custom", () => {
    const tools = [{ type: "custom", name: "sql", description: "Runs SQL.", format: { type: "text" } }];
    const shown_as = { type: "custom", name: "sql" };
    expect(read({ tools }).tools).toEqual([
      {
        type: "function",
        name: "sql",
        description: "Runs SQL.",
        parameters: oneText,
        strict: null,
        shown_as,
      },
    ]);
    expect(echoedTools(read({ tools }))).toEqual(tools);
  });

  test("are flat, with the namespace in the name where names collide", () => {
    const tools = [
      f("read"),
      { type: "namespace", name: "a", description: "A", tools: [f("read"), f("only_a"), f("both")] },
      {
        type: "namespace",
        name: "b",
        description: "B",
        tools: [f("both"), { type: "custom", name: "text" }],
      },
    ];
    const request = read({ tools });
    const { tools: flat } = request;
    expect(flat.map(({ name }) => name)).toEqual(["read", "a__read", "only_a", "a__both", "b__both", "text"]);
    expect(flat.at(-1)).toMatchObject({ type: "function", parameters: oneText });
    expect(flat.map(({ shown_as }) => shown_as)).toEqual([
      undefined,
      { type: "function", namespace: "a", name: "read" },
      { type: "function", namespace: "a", name: "only_a" },
      { type: "function", namespace: "a", name: "both" },
      { type: "function", namespace: "b", name: "both" },
      { type: "custom", namespace: "b", name: "text" },
    ]);
    expect(echoedTools(request).slice(1)).toEqual(tools.slice(1));
  });

  test("do not tell the model to call a custom tool in a way that functions cannot be called", () => {
    const description =
      "Use the `apply_patch` tool to edit files. This is a FREEFORM tool, so do not wrap the patch in JSON.\nPaths are relative. Do not wrap it in JSON or quotes! Be careful.";
    const [described] = read({ tools: [{ type: "custom", name: "apply_patch", description }] }).tools;
    expect(described?.["description"]).toBe(
      "Use the `apply_patch` tool to edit files.\nPaths are relative. Be careful.",
    );
  });

  test("describe the grammar of a custom tool to the model", () => {
    const format = { type: "grammar", syntax: "lark", definition: 'start: "x"' };
    const [described, bare] = read({
      tools: [
        { type: "custom", name: "a", description: "A.", format },
        { type: "custom", name: "b", format },
      ],
    }).tools;
    expect(described?.["description"]).toBe('A.\n\nThe input has to follow this grammar (lark):\nstart: "x"');
    expect(bare?.["description"]).toBe('The input has to follow this grammar (lark):\nstart: "x"');
  });

  test("of a namespace may be none, and a long namespace is cut to a name that model servers take", () => {
    expect(read({ tools: [{ type: "namespace", name: "agents" }] }).tools).toEqual([]);
    const name = "a.b".repeat(30);
    const [, second] = read({ tools: [f("f"), { type: "namespace", name, tools: [f("f")] }] }).tools;
    expect(second?.name).toMatch(/^[\w-]{64}$/);
    expect(second?.shown_as).toEqual({ type: "function", namespace: name, name: "f" });
  });

  test("include those of input items; the later one of two counts", () => {
    const bring = (tools: object[]) => ({ type: "additional_tools", role: "developer", tools });
    const newer = { ...f("one"), description: "newer" };
    const { tools, echo } = read({
      input: [
        bring([f("one"), { type: "custom", name: "patch" }]),
        { role: "user", content: "Hi" },
        bring([newer, { type: "namespace", name: "n", tools: [f("asked"), f("two")] }]),
      ],
      tools: [f("asked")],
    });
    expect(tools.map(({ name }) => name)).toEqual(["asked", "one", "patch", "n__asked", "two"]);
    expect(tools[1]).toEqual(newer);
    expect(echo.tools).toHaveLength(1);
  });

  test("are echoed complete if they are functions", () => {
    const request = read({ tools: [f("f")] });
    expect(echoedTools(request)).toEqual([
      { type: "function", name: "f", description: null, parameters: null, strict: null },
    ]);
    expect(request.echo.tools).toBeUndefined(); // kept once
  });

  test("are echoed without the secrets of their servers", () => {
    const secret = { headers: { "X-Key": "secret" }, authorization: "secret" };
    const shown = { type: "mcp", server_label: "s", server_url: "https://example.org/mcp" };
    const request = read({ tools: [{ ...shown, ...secret }] });
    expect(echoedTools(request)).toEqual([shown]);
    expect(request.tools).toEqual([{ ...shown, ...secret }]);
  });

  test.each([
    [[5], "tools[0]", "tools[0]: expected an object, got 5."],
    [[{ name: "f" }], "tools[0].type", "tools[0].type: expected a string, got nothing."],
    [[{ type: "function" }], "tools[0].name", "tools[0].name: expected a string, got nothing."],
    [
      [{ type: "function", name: "f", parameters: "{}" }],
      "tools[0].parameters",
      'tools[0].parameters: expected an object, got "{}".',
    ],
    [[{ type: "mcp" }], "tools[0].server_label", "tools[0].server_label: expected a string, got nothing."],
    [
      [{ type: "namespace", name: "n", tools: [f("f"), { type: "function" }] }],
      "tools[0].tools[1].name",
      "tools[0].tools[1].name: expected a string, got nothing.",
    ],
    [
      [f("f"), f("f")],
      "tools[1].name",
      'tools[1].name: expected a name that no other tool has, got "f", which is tools[0] already. Rename one of them.',
    ],
  ])("are refused: %j", (tools, param, message) => {
    expect(refusalOf({ tools })).toEqual([param, message]);
  });
});

describe("the choice of tools", () => {
  test.each([
    ["none", "none"],
    ["required", "required"],
    [{ type: "function", name: "f" }, { name: "f" }],
    [{ type: "custom", name: "c" }, { name: "c" }],
    [
      { type: "mcp", server_label: "s", name: "m" },
      { name: "m", server_label: "s" },
    ],
    [{ type: "mcp", server_label: "s" }, { name: "s" }],
    [{ type: "web_search_preview" }, { name: "web_search_preview" }],
  ])("%j is %j, and echoed as it came", (given, choice) => {
    const request = read({ tool_choice: given });
    expect(request.tool_choice).toEqual(choice);
    expect(request.allowed_tools).toBeUndefined();
    expect(request.echo.tool_choice).toEqual(given);
  });

  test("may allow only some", () => {
    const tools = [
      { type: "function", name: "f" },
      { type: "mcp", server_label: "s" },
      { type: "web_search" },
    ];
    const request = read({ tool_choice: { type: "allowed_tools", mode: "required", tools } });
    expect(request).toMatchObject({
      tool_choice: "required",
      allowed_tools: ["f", { server_label: "s" }, "web_search"],
    });
    const open = read({ tool_choice: { type: "allowed_tools", tools: [] } });
    expect(open).toMatchObject({ tool_choice: "auto", allowed_tools: [] });
    expect(open.echo.tool_choice).toEqual({ type: "allowed_tools", mode: "auto", tools: [] });
  });

  test("may be limited by a list beside it, too", () => {
    expect(read({ allowed_tools: ["f", { type: "function", name: "g" }] }).allowed_tools).toEqual(["f", "g"]);
    const tools = [
      { type: "function", name: "g" },
      { type: "function", name: "h" },
    ];
    const both = { allowed_tools: ["f", "g"], tool_choice: { type: "allowed_tools", mode: "auto", tools } };
    expect(read(both).allowed_tools).toEqual(["g"]);
    const ofServer = { name: "m", server_label: "s" };
    const choice = { type: "allowed_tools", tools: [{ type: "mcp", ...ofServer }] };
    for (const allowed_tools of [["s"], ["m"], [{ type: "mcp", ...ofServer }]])
      expect(read({ allowed_tools, tool_choice: choice }).allowed_tools).toEqual([ofServer]);
    const other = [{ type: "mcp", server_label: "t", name: "m" }];
    expect(read({ allowed_tools: other, tool_choice: choice }).allowed_tools).toEqual([]);
  });

  test.each([
    [
      "maybe",
      "tool_choice",
      'tool_choice: expected one of "auto", "none", "required" or an object, got "maybe".',
    ],
    [{}, "tool_choice.type", "tool_choice.type: expected a string, got nothing."],
    [{ type: "function" }, "tool_choice.name", "tool_choice.name: expected a string, got nothing."],
    [{ type: "allowed_tools" }, "tool_choice.tools", "tool_choice.tools: expected a list, got nothing."],
  ])("is refused: %j", (choice, param, message) => {
    expect(refusalOf({ tool_choice: choice })).toEqual([param, message]);
  });

  test("must name an existing tool", () => {
    const forced = read({ tool_choice: { type: "function", name: "f" } });
    expect(() => checkForcedTool(forced, ["f"])).not.toThrow();
    expect(() => checkForcedTool(forced, ["g", "h"])).toThrow(
      'tool_choice: expected the name of a tool of this request, got "f"; there are "g", "h". Add it to tools, or choose another.',
    );
    expect(() => checkForcedTool(forced, [])).toThrow("there are none");
    expect(() => checkForcedTool({ tool_choice: "required" }, [])).toThrow("tool_choice: expected");
    expect(() => checkForcedTool({ tool_choice: "required" }, ["f"])).not.toThrow();
    expect(() => checkForcedTool({ tool_choice: "auto" }, [])).not.toThrow();
  });
});
