// Reasoning, text and usage, in all the places where servers send them.

import { add, addArguments, added, chunk, frames, type QuirkCase, says } from "../quirk-case.ts";

const deltas = (...list: readonly unknown[]) => ({
  chunks: [...list.map((delta) => chunk(delta)), chunk({}, "stop")],
});
const thought = { thinking: "Two plus two.", text: "4" };

export const reasoning: readonly QuirkCase[] = [
  {
    name: "reasoning_content",
    answers: [deltas({ reasoning_content: "Two plus" }, { reasoning_content: " two." }, { content: "4" })],
    expect: thought,
  },
  { name: "reasoning", answers: [deltas({ reasoning: "Two plus two." }, { content: "4" })], expect: thought },
  {
    name: "reasoning_details",
    answers: [
      deltas({ reasoning_details: [{ type: "reasoning.text", text: "Two plus two." }] }, { content: "4" }),
    ],
    expect: thought,
  },
  {
    name: "the same in two fields",
    answers: [deltas({ reasoning: "Two plus two.", reasoning_content: "Two plus two." }, { content: "4" })],
    expect: thought,
  },
  {
    name: "parts of type thinking",
    answers: [
      deltas(
        { content: [{ type: "thinking", thinking: [{ type: "text", text: "Two plus two." }] }] },
        { content: [{ type: "text", text: "4" }] },
      ),
    ],
    expect: thought,
  },
  { name: "<think> in the text", answers: [says("<think>Two plus two.</think>4")], expect: thought },
  {
    name: "<think> split over chunks",
    answers: [says("<th", "ink>\nTwo plus", " two.\n</", "think>\n", "\n4")],
    expect: thought,
  },
  {
    name: "<think> never closed",
    answers: [says("<think>Two plus two.")],
    expect: { thinking: "Two plus two.", text: "Two plus two." },
  },
  { name: "<think> empty", answers: [says("<think>\n\n</think>\n\n4")], expect: { text: "4" } },
  {
    name: "</think> without <think>, which the template opened",
    answers: [says("Two plus", " two.</th", "ink>\n\n4")],
    profile: { startsThinking: true },
    expect: thought,
  },
  {
    name: "<think> shown as code",
    answers: [says("The tag `<think>` opens it.")],
    expect: { text: "The tag `<think>` opens it." },
  },
  {
    name: "thinking, text and a call in one chunk",
    answers: [
      deltas({
        reasoning_content: "Two plus two.",
        content: "4",
        tool_calls: [add(addArguments, { index: 0, id: "a" })],
      }),
    ],
    expect: { ...thought, ran: added },
  },
];

export const text: readonly QuirkCase[] = [
  { name: 'incremental, "1", "1", "0"', answers: [says("1", "1", "0")], expect: { text: "110" } },
  {
    name: "incremental, each chunk a prefix of the next",
    answers: [says("ha", "ha", "haha")],
    expect: { text: "hahahaha" },
  },
  {
    name: "cumulative",
    answers: [says("1", "11", "110")],
    profile: { text: "cumulative" },
    expect: { text: "110" },
  },
  {
    name: "content as parts",
    answers: [says([{ type: "text", text: "Hel" }], [{ type: "text", text: "lo" }])],
    expect: { text: "Hello" },
  },
  {
    name: "text and a call in one chunk",
    answers: [deltas({ content: "Hi", tool_calls: [add(addArguments, { index: 0, id: "a" })] })],
    expect: { text: "Hi", ran: added },
  },
  { name: "empty and null content", answers: [says("", "Hi", null, "")], expect: { text: "Hi" } },
  {
    name: "no role anywhere",
    answers: [{ raw: frames(chunk({ content: "H" }), chunk({ content: "i" }), chunk({}, "stop")) }],
    expect: { text: "Hi" },
  },
  {
    name: "the role in every chunk",
    answers: [deltas({ role: "assistant", content: "H" }, { role: "assistant", content: "i" })],
    expect: { text: "Hi" },
  },
];

const counted = { inputTokens: 3, outputTokens: 4, totalTokens: 7 };
const hi = [chunk({ content: "Hi" }), chunk({}, "stop")];
const openai = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };

export const usage: readonly QuirkCase[] = [
  {
    name: "in a last chunk without choices",
    answers: [{ chunks: [...hi, { choices: [], usage: openai }] }],
    expect: { text: "Hi", usage: counted },
  },
  {
    name: "in every chunk",
    answers: [
      {
        chunks: [
          chunk({ content: "Hi" }, null, { usage: { ...openai, completion_tokens: 1, total_tokens: 4 } }),
          chunk({}, "stop", { usage: openai }),
        ],
      },
    ],
    expect: { text: "Hi", usage: counted },
  },
  {
    name: "as input_tokens and output_tokens",
    answers: [{ chunks: [...hi, { choices: [], usage: { input_tokens: 3, output_tokens: 4 } }] }],
    expect: { text: "Hi", usage: counted },
  },
  {
    name: "null except in the last chunk",
    answers: [
      { chunks: [chunk({ content: "Hi" }, null, { usage: null }), chunk({}, "stop", { usage: openai })] },
    ],
    expect: { text: "Hi", usage: counted },
  },
  {
    name: "as timings of llama.cpp",
    answers: [{ chunks: [...hi, { choices: [], timings: { cache_n: 1, prompt_n: 2, predicted_n: 4 } }] }],
    expect: { text: "Hi", usage: counted },
  },
  { name: "absent", answers: [{ chunks: hi }], expect: { text: "Hi", usage: null } },
];
