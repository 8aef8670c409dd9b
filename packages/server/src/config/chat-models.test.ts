import { expect, test } from "vitest";
import { chatModels } from "./chat-models.ts";

test.each([
  "nomic-embed-text:latest",
  "mxbai-embed-large",
  "bge-m3:567m",
  "BAAI/bge-reranker-v2-m3",
  "intfloat/e5-mistral-7b-instruct",
  "text-embedding-qwen3-embedding-8b",
  "all-minilm:l6-v2",
  "Alibaba-NLP/gte-Qwen2-7B-instruct",
  "Qwen3-Reranker-4B",
  "openai/whisper-large-v3",
  "tts-1",
])("%s cannot chat", (name) => {
  expect(chatModels([name, "qwen3:8b"])).toEqual(["qwen3:8b"]);
});

test.each([
  "qwen3:8b",
  "llama3.2:latest",
  "gpt-oss:20b",
  "mistralai/Devstral-Small-2507",
  "hf.co/unsloth/GLM-4.5-Air-GGUF:Q4_K_M",
  "gemma3n:e4b",
  "smollm2:135m",
  "the5th-model",
])("%s can", (name) => {
  expect(chatModels([name])).toEqual([name]);
});
