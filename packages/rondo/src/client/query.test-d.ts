import { describe, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { type Block, Client, type QueryMessage, query } from "../index.ts";

describe("the shape of an answer is known to the compiler", () => {
  const output = z.object({ sum: z.number(), note: z.string().default("") });

  test("from Zod", () => {
    const client = new Client({ model: "m", baseURL: "http://localhost", output });
    expectTypeOf(client.result?.output).toEqualTypeOf<{ sum: number; note: string } | undefined>();
  });

  test("from the short form, in a query", () => {
    const run = () => query({ prompt: "Hi", options: { model: "m", output: { sum: Number } } });
    expectTypeOf(run().result())
      .resolves.toHaveProperty("output")
      .toEqualTypeOf<{ sum: number } | undefined>();
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
