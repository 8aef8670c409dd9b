import { describe, expect, test } from "vitest";
import { ContextLengthError } from "../error/context-length-error.ts";
import { startModelServer } from "../testing/index.ts";
import { openaiCompatible } from "./chat-completions.ts";
import { findContextOverflow } from "./context-overflow.ts";

const openai = (message: string, code: string | number | null = null, type = "invalid_request_error") => ({
  error: { message, type, param: null, code },
});

const reports: [server: string, report: unknown, contextWindow?: number, promptTokens?: number][] = [
  [
    "llama.cpp",
    {
      error: {
        code: 400,
        message: "request (7209 tokens) exceeds the available context size (1024 tokens), try increasing it",
        type: "exceed_context_size_error",
        n_prompt_tokens: 7209,
        n_ctx: 1024,
      },
    },
    1024,
    7209,
  ],
  [
    "llama.cpp of 2025",
    openai(
      "the request exceeds the available context size. try increasing the context size or enable context shift",
      400,
    ),
  ],
  ["llama.cpp in mid-answer", openai("Context size has been exceeded.", 500, "server_error")],
  [
    "vLLM",
    openai(
      "This model's maximum context length is 8192 tokens. However, you requested 512 output tokens and your prompt contains at least 7681 input tokens, for a total of at least 8193 tokens. Please reduce the length of the input prompt or the number of requested output tokens.",
      400,
      "BadRequestError",
    ),
    8192,
    7681,
  ],
  [
    "vLLM of 2025",
    {
      object: "error",
      message:
        "'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is 4096 tokens and your request has 31 input tokens (4096 > 4096 - 31). None",
      type: "BadRequestError",
      code: 400,
    },
    4096,
    31,
  ],
  [
    "vLLM's engine",
    openai(
      "The decoder prompt (length 9001) is longer than the maximum model length of 8192. Make sure that `max_model_len` is no smaller than the number of text tokens.",
    ),
    8192,
    9001,
  ],
  [
    "OpenAI",
    openai(
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 8227 tokens. Please reduce the length of the messages.",
      "context_length_exceeded",
    ),
    8192,
    8227,
  ],
  [
    "OpenAI's Responses API",
    openai(
      "Your input exceeds the context window of this model. Please adjust your input and try again.",
      "context_length_exceeded",
    ),
  ],
  [
    "OpenAI with a completion",
    openai(
      "This model's maximum context length is 4097 tokens. However, you requested 4295 tokens (3245 in the messages, 1050 in the completion). Please reduce the length of the messages or completion.",
    ),
    4097,
    3245,
  ],
  [
    "SGLang",
    {
      object: "error",
      message: "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
    },
    8192,
    9000,
  ],
  [
    "SGLang with an answer",
    {
      message:
        "Requested token count exceeds the model's maximum context length of 8192 tokens. You requested a total of 9000 tokens: 8500 tokens from the input messages and 500 tokens for the completion. Please reduce the number of tokens in the input messages or the completion to fit within the limit.",
    },
    8192,
    8500,
  ],
  ["Ollama", { error: "the input length exceeds the context length" }],
  ["Ollama's runner", { error: "prompt too long; exceeded max context length by 12 tokens" }],
  [
    "LM Studio",
    {
      error:
        "Trying to keep the first 15857 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input",
    },
    4096,
    15_857,
  ],
  [
    "LM Studio in mid-answer",
    {
      error: {
        message:
          "Reached context length of 4096 tokens with model (arch: qwen3vlmoe) that does not currently support mid-generation context overflow.",
      },
    },
    4096,
  ],
  [
    "LM Studio's prediction",
    "The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 10136>= n_ctx: 7866). Try to load the model with a larger context length",
    7866,
    10_136,
  ],
  [
    "text-generation-inference",
    {
      error:
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 2048. Given: 3000 `inputs` tokens and 20 `max_new_tokens`",
      error_type: "validation",
    },
    2048,
    3000,
  ],
  ["Anthropic", openai("prompt is too long: 200251 tokens > 200000 maximum"), 200_000, 200_251],
];

describe("a full context window", () => {
  test.each(reports)("is recognised in the words of %s", (_, report, contextWindow, promptTokens) => {
    expect(findContextOverflow(report)).toEqual({ contextWindow, promptTokens });
  });

  test.each([
    "max_tokens must be at least 1",
    "Unknown field `context`",
    "The context of this request was cancelled",
    "Rate limit reached for tokens per min. Limit: 30000, Requested: 40000",
    "context deadline exceeded",
    "Failed to load the model: context length 131072 needs 40 GB",
    "",
  ])("is not seen in %j", (message) => {
    expect(findContextOverflow(openai(message))).toBeUndefined();
    expect(findContextOverflow(message)).toBeUndefined();
  });

  test("is its own error, and the request is not repeated", async () => {
    const [, report] = reports[0] as [string, unknown];
    for (const status of [400, 413, 500]) {
      await using server = await startModelServer([{ status, body: report }]);
      const model = openaiCompatible({ baseURL: server.url, model: "m", retry: { delayMs: 1 } });
      const reading = Array.fromAsync(model.stream({ messages: [{ role: "user", content: "Hi." }] }));
      await expect(reading).rejects.toBeInstanceOf(ContextLengthError);
      await expect(reading).rejects.toMatchObject({
        code: "context_length_exceeded",
        contextWindow: 1024,
        promptTokens: 7209,
        status,
        endpoint: server.url,
      });
    }
  });

  test("is the same error in mid-answer, with the text before it", async () => {
    const chunks = [
      { choices: [{ index: 0, delta: { content: "Well" } }] },
      { error: { code: 500, message: "Context size has been exceeded.", type: "server_error" } },
    ];
    await using server = await startModelServer([{ chunks }]);
    const model = openaiCompatible({ baseURL: server.url, model: "m" });
    const reading = Array.fromAsync(model.stream({ messages: [{ role: "user", content: "Hi." }] }));
    await expect(reading).rejects.toMatchObject({ code: "context_length_exceeded", partialText: "Well" });
  });
});
