// Presets for the model servers that people run themselves, each at its default address.

import { type OpenAICompatibleOptions, openaiCompatible } from "./chat-completions.ts";
import { environment, ollamaBaseUrl } from "./environment.ts";
import { type ServerProfile, serverProfiles } from "./known-profiles.ts";
import type { ModelProvider } from "./provider.ts";

/** Options of a preset. What is left out comes from the environment, or from the preset. */
export type PresetOptions = Omit<OpenAICompatibleOptions, "model" | "server">;

/**
 * A model on Ollama. Default for `model`: `RONDO_MODEL`; for `baseURL`: `RONDO_BASE_URL`, then `OLLAMA_HOST`,
 * then `http://localhost:11434/v1`.
 */
export function ollama(model?: string, options?: PresetOptions): ModelProvider {
  const host = environment("OLLAMA_HOST");
  return preset("ollama", model, options, host && ollamaBaseUrl(host));
}

/** A model on LM Studio. Default for `baseURL`: `RONDO_BASE_URL`, then `http://localhost:1234/v1`. */
export function lmstudio(model?: string, options?: PresetOptions): ModelProvider {
  return preset("lmstudio", model, options);
}

/**
 * A model on llama.cpp's server, which has one model whatever its name. Default for `baseURL`:
 * `RONDO_BASE_URL`, then `http://localhost:8080/v1`.
 */
export function llamacpp(model?: string, options?: PresetOptions): ModelProvider {
  return preset("llamacpp", model, options);
}

/** A model on vLLM. Default for `baseURL`: `RONDO_BASE_URL`, then `http://localhost:8000/v1`. */
export function vllm(model?: string, options?: PresetOptions): ModelProvider {
  return preset("vllm", model, options);
}

function preset(
  server: ServerProfile["name"],
  model: string | undefined,
  options: PresetOptions = {},
  host?: string,
): ModelProvider {
  const port = serverProfiles.find(({ name }) => name === server)?.port;
  const baseURL = options.baseURL ?? environment("RONDO_BASE_URL") ?? host ?? `http://localhost:${port}/v1`;
  return openaiCompatible({ ...options, baseURL, model, server });
}
