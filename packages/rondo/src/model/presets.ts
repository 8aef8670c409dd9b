// The model servers that people run themselves, each where it listens unless told otherwise.

import { type OpenAICompatibleOptions, openaiCompatible } from "./chat-completions.ts";
import { environment, ollamaBaseUrl } from "./environment.ts";
import type { ModelProvider } from "./provider.ts";

/** What a preset can be told; what it is not told, the environment or the preset knows. */
export type PresetOptions = Omit<OpenAICompatibleOptions, "model" | "server">;

/**
 * A model on Ollama. Default for `model`: `RONDO_MODEL`; for `baseURL`: `RONDO_BASE_URL`, then `OLLAMA_HOST`,
 * then `http://localhost:11434/v1`.
 */
export function ollama(model?: string, options?: PresetOptions): ModelProvider {
  const host = environment("OLLAMA_HOST");
  return preset(
    "ollama",
    host === undefined ? "http://localhost:11434/v1" : ollamaBaseUrl(host),
    model,
    options,
  );
}

/** A model on LM Studio. Default for `baseURL`: `RONDO_BASE_URL`, then `http://localhost:1234/v1`. */
export function lmstudio(model?: string, options?: PresetOptions): ModelProvider {
  return preset("lmstudio", "http://localhost:1234/v1", model, options);
}

/**
 * A model on llama.cpp's server, which has one model whatever its name. Default for `baseURL`:
 * `RONDO_BASE_URL`, then `http://localhost:8080/v1`.
 */
export function llamacpp(model?: string, options?: PresetOptions): ModelProvider {
  return preset("llamacpp", "http://localhost:8080/v1", model, options);
}

/** A model on vLLM. Default for `baseURL`: `RONDO_BASE_URL`, then `http://localhost:8000/v1`. */
export function vllm(model?: string, options?: PresetOptions): ModelProvider {
  return preset("vllm", "http://localhost:8000/v1", model, options);
}

function preset(
  server: string,
  baseURL: string,
  model: string | undefined,
  options: PresetOptions = {},
): ModelProvider {
  return openaiCompatible({
    ...options,
    baseURL: options.baseURL ?? environment("RONDO_BASE_URL") ?? baseURL,
    model,
    server,
  });
}
