// A conversation that is made short with the openai package, and goes on from there.
import OpenAI from "openai";
import { expect, test } from "vitest";
import { start } from "./testkit/start.ts";

test("a conversation is compacted, and the sealed item stands for it afterwards", async () => {
  const server = await start({
    script: [
      "Paris.",
      ({ messages }) => {
        expect(messages.at(-1)?.content).toContain("Write a summary");
        return "They asked for the capital of France: Paris.";
      },
      ({ messages }) => {
        expect(messages).toEqual([
          { role: "user", content: "What is the capital of France?" },
          {
            role: "user",
            content: "What was said and done so far, in short:\nThey asked for the capital of France: Paris.",
          },
          { role: "user", content: "And of Italy?" },
        ]);
        return "Rome.";
      },
    ],
  });
  const openai = new OpenAI({ baseURL: server.baseURL, apiKey: "none", maxRetries: 0 });
  const first = await openai.responses.create({ model: "test", input: "What is the capital of France?" });
  const compacted = await openai.responses.compact({ model: "test", previous_response_id: first.id });
  expect(compacted.object).toBe("response.compaction");
  expect(compacted.output.map(({ type }) => type)).toEqual(["message", "compaction"]);
  expect(JSON.stringify(compacted)).not.toContain("Paris");

  const input = [...compacted.output, { role: "user", content: "And of Italy?" }];
  const next = await openai.responses.create({ model: "test", input: input as never });
  expect(next.output_text).toBe("Rome.");

  const changed = compacted.output.map((item) =>
    item.type === "compaction"
      ? { ...item, encrypted_content: item.encrypted_content.replace(/.{8}$/, "AAAAAAAA") }
      : item,
  );
  await expect(openai.responses.create({ model: "test", input: changed as never })).rejects.toMatchObject({
    status: 400,
    code: "invalid_compaction",
  });
});

test.each(["", " \n", { thinking: "Hm." }])("a summary that says nothing is an error: %j", async (answer) => {
  const server = await start({ script: [answer] });
  const openai = new OpenAI({ baseURL: server.baseURL, apiKey: "none", maxRetries: 0 });
  await expect(openai.responses.compact({ model: "test", input: "Hi" })).rejects.toMatchObject({
    status: 502,
    code: "empty_summary",
  });
});
