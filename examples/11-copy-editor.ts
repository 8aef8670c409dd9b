// A copy editor ported from claude-agent-sdk: four lines change
import { query } from "rondo"; // was: from "@anthropic-ai/claude-agent-sdk"
import { scriptedModel } from "rondo/testing"; // only for this example

const drafts = ["The comittee have met.", "It's decision is final."];

const options = {
  model: copyEditor(), // was: "claude-…". For a real model: ollama("qwen3:8b")
  systemPrompt: "You are a copy editor. Correct the text, and say what was wrong.",
};

for (const draft of drafts) {
  for await (const message of query({ prompt: `Edit this text:\n\n${draft}`, options })) {
    if (message.type === "assistant")
      for (const block of message.content) // was: message.message.content
        if (block.type === "text") console.log(block.text);
    if (message.type === "result") console.log(`${message.usage?.outputTokens} tokens`); // was: usage.output_tokens
  }
}
// → The committee has met. (Spelling; "committee" takes the singular.)
// → 15 tokens
// → Its decision is final. (The possessive is "its".)
// → 12 tokens

/** Stands in for a model. */
function copyEditor() {
  const answer = (text: string, outputTokens: number) => ({
    text,
    usage: { inputTokens: 40, outputTokens, totalTokens: 40 + outputTokens },
  });
  return scriptedModel([
    answer('The committee has met. (Spelling; "committee" takes the singular.)', 15),
    answer('Its decision is final. (The possessive is "its".)', 12),
  ]);
}
