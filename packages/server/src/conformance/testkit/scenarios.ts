// The tasks that every client works on: what the model says, and what is to become of it.

import type { Message } from "rondo";
import type { ModelRequest } from "rondo/models";
import type { ScriptedAnswer, ScriptedStep } from "rondo/testing";
import { expect } from "vitest";
import type { Finish } from "./client.ts";

export interface Scenario {
  readonly name: string;
  readonly script: () => readonly ScriptedStep[];
  /** The last answer. */
  readonly text: string;
  /** What the client itself has run. */
  readonly ran: readonly string[];
  /** How each answer has ended. */
  readonly finishes: readonly Finish[];
  /** The types of the items of each response. */
  readonly output: readonly (readonly string[])[];
}

const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };
const add = (a: number, b: number) => ({ name: "add", input: { a, b } });
const multiply = (a: number, b: number) => ({ name: "multiply", input: { a, b } });
const clock = (city: string) => ({ name: "clock", input: { city } });

/** An answer that is given if the model has been told these results, and these only, in this order. */
function afterResults(results: readonly string[], answer: ScriptedAnswer | string): ScriptedStep {
  return (request: ModelRequest) => {
    expect(resultsOf(request)).toEqual(results.map((result) => expect.stringContaining(result)));
    expectValidCalls(request.messages);
    return answer;
  };
}

function resultsOf({ messages }: ModelRequest): string[] {
  return messages.filter((message) => message.role === "tool").map(({ content }) => content);
}

/** Each answer with calls is followed by their results, in their order: model servers refuse anything else. */
export function expectValidCalls(messages: readonly Message[]): void {
  for (const [index, message] of messages.entries()) {
    if (message.role !== "assistant" || !message.tool_calls) continue;
    const ids = message.tool_calls.map(({ id }) => id);
    const following = messages.slice(index + 1, index + 1 + ids.length);
    expect(following.map((next) => (next.role === "tool" ? next.tool_call_id : next.role))).toEqual(ids);
  }
}

export const scenarios: readonly Scenario[] = [
  {
    name: "plain text",
    script: () => [{ text: ["Hel", "lo ", "there."], usage }],
    text: "Hello there.",
    ran: [],
    finishes: ["end"],
    output: [["message"]],
  },
  {
    name: "a client's call",
    script: () => [{ calls: [add(2, 3)], usage }, afterResults(["5"], "The sum is 5.")],
    text: "The sum is 5.",
    ran: ["add(2, 3)"],
    finishes: ["calls", "end"],
    output: [["function_call"], ["message"]],
  },
  {
    name: "a client's call after some text",
    script: () => [{ text: "Let me see.", calls: [add(2, 3)] }, afterResults(["5"], "It is 5.")],
    text: "It is 5.",
    ran: ["add(2, 3)"],
    finishes: ["calls", "end"],
    output: [["message", "function_call"], ["message"]],
  },
  {
    name: "parallel calls of a client",
    script: () => [{ calls: [add(1, 2), multiply(3, 4)] }, afterResults(["3", "12"], "3 and 12.")],
    text: "3 and 12.",
    ran: ["add(1, 2)", "multiply(3, 4)"],
    finishes: ["calls", "end"],
    output: [["function_call", "function_call"], ["message"]],
  },
  {
    name: "chained calls of a client",
    script: () => [
      { calls: [add(1, 2)] },
      afterResults(["3"], { calls: [multiply(3, 4)] }),
      afterResults(["3", "12"], { calls: [add(12, 1)] }),
      afterResults(["3", "12", "13"], "13 it is."),
    ],
    text: "13 it is.",
    ran: ["add(1, 2)", "multiply(3, 4)", "add(12, 1)"],
    finishes: ["calls", "calls", "calls", "end"],
    output: [["function_call"], ["function_call"], ["function_call"], ["message"]],
  },
  {
    name: "a server's call",
    script: () => [{ calls: [clock("Rome")] }, afterResults(["12:00 in Rome"], "It is noon.")],
    text: "It is noon.",
    ran: [],
    finishes: ["end"],
    output: [["mcp_call", "message"]],
  },
  {
    name: "parallel and chained calls of the server",
    script: () => [
      { calls: [clock("Rome"), clock("Oslo")] },
      afterResults(["Rome", "Oslo"], { text: "And now Bern.", calls: [clock("Bern")] }),
      afterResults(["Rome", "Oslo", "Bern"], "Noon everywhere."),
    ],
    text: "Noon everywhere.",
    ran: [],
    finishes: ["end"],
    output: [["mcp_call", "mcp_call", "message", "mcp_call", "message"]],
  },
  {
    name: "a server's call that fails",
    script: () => [{ calls: [{ name: "broken" }] }, afterResults(["mainspring"], "It is broken.")],
    text: "It is broken.",
    ran: [],
    finishes: ["end"],
    output: [["mcp_call", "message"]],
  },
  {
    name: "a call to a tool that nobody has",
    script: () => [{ calls: [{ name: "oracle" }] }, afterResults(["oracle"], "I do not know.")],
    text: "I do not know.",
    ran: [],
    finishes: ["end"],
    output: [["mcp_call", "message"]],
  },
  {
    name: "a mixed turn",
    script: () => [
      { calls: [clock("Rome"), add(2, 3)] },
      afterResults(["12:00 in Rome", "5"], "At noon it is 5."),
    ],
    text: "At noon it is 5.",
    ran: ["add(2, 3)"],
    finishes: ["calls", "end"],
    output: [["mcp_call", "function_call"], ["message"]],
  },
  {
    name: "reasoning",
    script: () => [{ thinking: ["Hm. ", "Yes."], text: "Yes." }],
    text: "Yes.",
    ran: [],
    finishes: ["end"],
    output: [["reasoning", "message"]],
  },
  {
    name: "reasoning before and after a client's call",
    script: () => [
      { thinking: "I have to add.", calls: [add(2, 3)] },
      afterResults(["5"], { thinking: "So that is it.", text: "5." }),
    ],
    text: "5.",
    ran: ["add(2, 3)"],
    finishes: ["calls", "end"],
    output: [
      ["reasoning", "function_call"],
      ["reasoning", "message"],
    ],
  },
  {
    name: "a long task with all of it",
    script: () => [
      { thinking: "First the time.", calls: [clock("Rome")] },
      afterResults(["Rome"], { text: "Now a sum.", calls: [add(1, 2)] }),
      afterResults(["Rome", "3"], {
        calls: [multiply(3, 4), clock("Oslo"), add(5, 6)],
      }),
      (request) => {
        const results = ["12:00 in Rome", "3", "12", "12:00 in Oslo", "11"];
        // The calls of the server are run first, so clients that keep the conversation may send them first.
        expect(resultsOf(request).toSorted()).toEqual(results.toSorted());
        expectValidCalls(request.messages);
        return { thinking: "Done.", text: "All done." };
      },
    ],
    text: "All done.",
    ran: ["add(1, 2)", "multiply(3, 4)", "add(5, 6)"],
    finishes: ["calls", "calls", "end"],
    output: [
      ["reasoning", "mcp_call", "message", "function_call"],
      ["mcp_call", "function_call", "function_call"],
      ["reasoning", "message"],
    ],
  },
];
