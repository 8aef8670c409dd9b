import { describe, expectTypeOf, test } from "vitest";
import { z } from "zod";
import {
  type AnyTool,
  type Block,
  Client,
  type QueryMessage,
  query,
  type Run,
  type ToolSource,
  tool,
} from "../index.ts";

describe("the shape of an answer is known to the compiler", () => {
  const output = z.object({ sum: z.number(), note: z.string().default("") });

  test("from Zod", () => {
    const client = new Client({ model: "m", baseURL: "http://localhost", output });
    expectTypeOf(client.result?.output).toEqualTypeOf<{ sum: number; note: string } | undefined>();
  });

  test("from the short form, in a query", () => {
    const run = () => query({ prompt: "Hi", options: { model: "m", output: { sum: Number } } });
    expectTypeOf(run().result()).resolves.toHaveProperty("output").toEqualTypeOf<{ sum: number }>();
  });

  test("of a run that completed", () => {
    const client = new Client({ model: "m", baseURL: "http://localhost", output });
    const read = () => {
      if (client.result?.stopReason === "completed")
        expectTypeOf(client.result.output).toEqualTypeOf<{ sum: number; note: string }>();
      else expectTypeOf(client.result?.output).toEqualTypeOf<undefined>();
    };
    void read;
  });

  test("and is unknown without one", () => {
    const client = new Client({ model: "m", baseURL: "http://localhost" });
    expectTypeOf(client.result?.output).toBeUnknown();
    expectTypeOf(client).toEqualTypeOf<Client>();
  });
});

test("blocks and messages are told apart by their type", () => {
  const read = (block: Block) => (block.type === "tool_use" ? block.input : undefined);
  expectTypeOf(read).returns.toEqualTypeOf<Record<string, unknown> | undefined>();
  const text = (message: QueryMessage) => (message.type === "assistant" ? message.text : message.type);
  expectTypeOf(text).returns.toBeString();
});

describe("calls and results are told apart by the name of their tool", () => {
  const add = tool("add", "d", { a: Number, b: Number }, ({ a, b }) => a + b);
  const find = tool("find", "d", z.object({ text: z.string().default("") }), async function* ({ text }) {
    yield text;
  });
  const tools = [add, find];

  function read(block: Block<typeof add | typeof find>): void {
    if (block.type === "tool_use" && block.name === "add")
      expectTypeOf(block.input).toEqualTypeOf<{ a: number; b: number }>();
    if (block.type === "tool_use" && block.name === "find")
      expectTypeOf(block.input).toEqualTypeOf<{ text?: string | undefined }>();
    if (block.type === "tool_result" && block.name === "add" && !block.is_error)
      expectTypeOf(block.content).toBeNumber();
    if (block.type === "tool_result" && block.name === "find" && !block.is_error)
      expectTypeOf(block.content).toEqualTypeOf<string[]>();
    if (block.type === "tool_result" && block.is_error) expectTypeOf(block.content).toBeUnknown();
    // @ts-expect-error -- no such tool
    if (block.type === "tool_use" && block.name === "subtract") void block;
  }

  test("in a client", () => {
    const client = new Client({ model: "m", baseURL: "http://localhost", tools });
    expectTypeOf(client.receiveMessages()).toEqualTypeOf<Run<Block<typeof add | typeof find>>>();
    expectTypeOf(client.openCalls[0]?.name).toEqualTypeOf<"add" | "find" | undefined>();
    expectTypeOf(client).toExtend<Client>();
    void read;
  });

  test("in a query", () => {
    const code = async () => {
      for await (const message of query({ prompt: "Hi", options: { model: "m", tools: [add, find] } })) {
        if (message.type === "assistant") for (const block of message.content) read(block);
        if (message.type === "user") for (const block of message.content) read(block);
      }
    };
    expectTypeOf(code).toBeFunction();
  });

  test("unless there are others, which are only known when a run begins", () => {
    const source: ToolSource = { tools: async () => [] };
    const client = new Client({ model: "m", baseURL: "http://localhost", tools: [add, source] });
    expectTypeOf(client.openCalls[0]?.name).toEqualTypeOf<string | undefined>();
    const plain = new Client({ model: "m", baseURL: "http://localhost", tools: tools as AnyTool[] });
    expectTypeOf(plain.receiveMessages()).toEqualTypeOf<Run<Block>>();
  });
});
