// What to do about each finding, by its code, where that does not depend on the case.

const checkUrl = "Check the URL: it usually ends in /v1.";
const largerModel = "Try again, and if it stays so, try a larger model or one that is made for tools.";

export const adviceByCode: Readonly<Record<string, string>> = {
  old_node: "Install a newer one from https://nodejs.org.",
  invalid_config: "Correct what is named; docs/server-config.md has every key.",
  unusable: "Correct that, or name another store with `store` in the config or RONDO_STORE.",

  unknown_host: "Check the spelling, and the network.",
  unreachable: "Check the address, the network, firewalls and certificates.",
  not_http: "Check the port, and whether the URL has to begin with http: or https:.",
  wrong_url: checkUrl,
  not_a_model_api: checkUrl,
  refused: "Check that the URL is that of an OpenAI-compatible API; it usually ends in /v1.",
  redirect: "Use the address that it names, with /v1.",
  web_page: "Use the address of the API behind it; it usually has another port, or ends in /v1.",
  busy: "Try again later.",
  small_window:
    "Start the model server with a larger one: -c of llama-server, OLLAMA_CONTEXT_LENGTH of Ollama, --max-model-len of vLLM.",
  loading: "Try again in a moment, or wait longer with --timeout.",
  server_error: "Its log says why; often the model does not fit into memory. Then choose a smaller one.",
  no_models: "Get one (Ollama: `ollama pull qwen3:8b`), or load one in the server.",
  no_chat_models:
    "Get a language model (Ollama: `ollama pull qwen3:8b`), or check one of these anyway with --model NAME.",
  error: "See what the message says.",

  empty_answer: "Check the server's log; the model's chat template may be wrong.",
  only_thinking: "Allow more with a larger maxTokens, or let it think less.",
  slow: "A large model takes long to load: try again, or allow more with --timeout SECONDS. If that does not help, the server's log says whether it hangs.",
  one_piece: "It works, but nothing can be shown early. A proxy in between may buffer the stream.",
  no_tools:
    "Choose a model that can use tools (on Ollama, `ollama show MODEL` lists 'tools'); vLLM needs --enable-auto-tool-choice and --tool-call-parser.",
  no_tool_call: "Run `rondo doctor --model-url URL` with the address of the model server: it tells why.",
  wrong_call: `The tool is add with the numbers a and b. ${largerModel}`,
  result_not_used: `The model's chat template may omit tool results. ${largerModel}`,
};

/** What makes tools work on each server. */
export const toolAdvice: Readonly<Record<string, string>> = {
  ollama: "Choose a model that can use tools: `ollama show MODEL` lists 'tools' among its capabilities.",
  lmstudio: "Choose a model that LM Studio marks with a hammer: those are trained for tools.",
  llamacpp: "Start llama-server with --jinja, and use a model whose chat template has tools.",
  vllm: "Start vLLM with --enable-auto-tool-choice and the --tool-call-parser of the model.",
  other:
    "Check whether the server needs an option to parse tool calls, or try a model that is made for tools.",
};

/** What to do about each part of a store's file. */
export const storeAdvice = {
  wal: "Copy the database and its -wal file before anything opens them. Then restore the database from a backup, or start the server: it continues with what can be read.",
  integrity:
    "Copy the file. Then restore it from a backup, or save what can be read with `sqlite3 FILE .recover`.",
  references: "Restore the database from a backup if something is missing.",
  version: "Use a newer server.",
  file: "Check the path: --store FILE, or `store` in the config.",
} as const;
