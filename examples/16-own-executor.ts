// An executor of your own: a tool type, an item type and events that the OpenAI client streams
import { callItems, startServer, type ToolExecutor } from "@rondo/server";
import OpenAI from "openai";
import { scriptedModel } from "rondo/testing";

const notes = ["Green tea steeps at 80 °C.", "Black tea steeps at 100 °C.", "Coffee wants 93 °C."];

// Requests ask for it with `tools: [{ type: "acme.search" }]`. The model sees a function; the client sees
// `acme.search_call` items.
const search: ToolExecutor = {
  kind: "acme.search",
  canExecute: ({ type }) => type === "acme.search",
  describe: () => ({
    name: "search_notes",
    description: "Search the notes for a word.",
    parameters: { type: "object", properties: { word: { type: "string" } }, required: ["word"] },
  }),
  items: callItems("acme.search_call"),
  async *stream({ id, arguments: json }) {
    const { word } = JSON.parse(json) as { word: string };
    yield { event: { type: "response.acme.search_call.searching", word } };
    const results = notes.filter((note) => note.toLowerCase().includes(word.toLowerCase()));
    return { callId: id, output: results.join("\n") || "Nothing found.", item: { results } };
  },
};

// Stands in for a model that calls the tool and then answers.
const model = scriptedModel([
  { calls: [{ name: "search_notes", input: { word: "tea" } }] },
  "Green tea steeps at 80 °C, black tea at 100 °C.",
]);

await using server = await startServer({
  port: 0,
  store: "memory",
  log: { level: "silent" },
  models: { scripted: model },
  executors: [search],
});

const openai = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "none" });
const stream = await openai.responses.create({
  model: "scripted",
  input: "How hot do I make my tea?",
  // The types of the client know OpenAI's tools only.
  tools: [{ type: "acme.search" } as never],
  stream: true,
});
for await (const event of stream as AsyncIterable<{
  type: string;
  word?: string;
  item?: object;
  text?: string;
}>) {
  if (event.type.endsWith(".searching")) console.log(event.type, event.word);
  if (event.type === "response.output_item.done" && event.item && "results" in event.item)
    console.log(event.item.results);
  if (event.type === "response.output_text.done") console.log(event.text);
}
// → response.acme.search_call.searching tea
// → [ 'Green tea steeps at 80 °C.', 'Black tea steeps at 100 °C.' ]
// → Green tea steeps at 80 °C, black tea at 100 °C.
