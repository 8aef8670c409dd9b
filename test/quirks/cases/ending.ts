// The ends of streams, proper and not.

import { add, addArguments, added, calls, chunk, type QuirkCase } from "../quirk-case.ts";

const call = add(addArguments, { index: 0, id: "a" });
const started = chunk({ tool_calls: [call] });

export const ending: readonly QuirkCase[] = [
  {
    name: "finish_reason stop with calls",
    answers: [{ chunks: [started, chunk({}, "stop")] }],
    expect: { ran: added },
  },
  { name: "no finish_reason", answers: [{ chunks: [started] }], expect: { ran: added } },
  { name: "no [DONE]", answers: [{ ...calls([call]), done: false }], expect: { ran: added } },
  {
    name: "neither finish_reason nor [DONE]",
    answers: [{ chunks: [started], done: false }],
    expect: { ran: added },
  },
  {
    name: "a last chunk without delta",
    answers: [{ chunks: [started, { choices: [{ index: 0, finish_reason: "tool_calls" }] }] }],
    expect: { ran: added },
  },
  {
    name: "choices empty, first and last",
    answers: [{ chunks: [{ choices: [] }, started, chunk({}, "tool_calls"), { choices: [] }] }],
    expect: { ran: added },
  },
  {
    name: "delta null",
    answers: [{ chunks: [chunk(null), chunk({ content: "Hi" }), chunk(null, "stop")] }],
    expect: { text: "Hi" },
  },
  {
    name: "calls in the same chunk as finish_reason",
    answers: [{ chunks: [chunk({ tool_calls: [call] }, "tool_calls")] }],
    expect: { ran: added },
  },
  {
    name: "the whole message instead of deltas",
    answers: [
      {
        chunks: [
          {
            choices: [
              { index: 0, message: { content: "Hi", tool_calls: [call] }, finish_reason: "tool_calls" },
            ],
          },
        ],
      },
    ],
    expect: { text: "Hi", ran: added },
  },
  {
    name: "the whole message again after the deltas",
    answers: [
      {
        chunks: [
          started,
          {
            choices: [
              {
                index: 0,
                delta: {},
                message: { content: null, tool_calls: [call] },
                finish_reason: "tool_calls",
              },
            ],
          },
        ],
      },
    ],
    expect: { ran: added },
  },
  {
    name: "one JSON object instead of a stream",
    answers: [
      {
        body: {
          object: "chat.completion",
          choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
        },
      },
    ],
    expect: { text: "Hi" },
  },
];
