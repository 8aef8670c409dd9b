// What to do about an error of a run, by its code.

const byCode: Readonly<Record<string, string>> = {
  model_unreachable:
    "Start the model server, or correct its address in the config. A run in the background waits for it with `runs.modelWaitMs`.",
  model_auth: "Set the right `apiKey` of the endpoint in the config, and restart the server.",
  model_not_found: "Choose a model that the endpoint has: see the page Models. With Ollama, pull it first.",
  rate_limit_exceeded:
    "Wait, or lower the endpoint's `maxConcurrency` in the config, so that fewer requests run at once.",
  model_server:
    "Read the model server's log: often the model does not fit into memory, or is still being loaded.",
  model_request:
    "The model server did not accept a field or a setting: its message says which. Leave that out.",
  context_length_exceeded:
    "Send less, compact the conversation, set `truncation` to `auto`, or start the model server with a larger context window.",
  prompt_cut: "Give the model a larger context window, or send less.",
  model_unexpected_answer: "Check the endpoint's address: it usually ends in /v1.",
  model_empty_answer: "Send it again. If it stays empty, read the model server's log.",
  model_answer_limit:
    "Ask for less with `max_output_tokens`, or raise the limit of the endpoint in the config.",
  model_stream_broken: "Send it again: the connection to the model server broke off.",
  model_stream_error: "Send it again. The model server's log says more.",
  model_timeout: "Raise `timeoutMs` of the endpoint, or ask for less with `max_output_tokens`.",
  model_idle_timeout:
    "Raise `idleTimeoutMs` of the endpoint for a slow model; restart the model server if it hangs.",
  model_failed: "Send it again. The server's log says more.",
  store_unavailable:
    "Look at the server's log: its disk may be full, or its database away. Then send it again.",
  interrupted:
    "The process ended while it ran. Send it again; with `background: true` it is resumed instead.",
  too_many_attempts:
    "It ended its process several times, so it is not tried again. The server's log and the timeline show what it did last.",
  server_stopping: "Send it again when the server is back.",
  conversation_busy: "Wait until the other run of this conversation is over, then send it again.",
  conversation_changed: "Another run changed the conversation meanwhile. Send it again.",
  executor_failed: "The tool's executor failed: the server's log says why.",
  sandbox_not_allowed: "Allow the sandbox in the config, or leave the tool out.",
  files_unsupported: "The model cannot read files: send the text instead.",
};

const otherAdvice = "The server's log says more: see the page System. Send it again when the cause is gone.";

export function adviceFor(code: string | null | undefined): string {
  return byCode[code ?? ""] ?? otherAdvice;
}

const byReason: Readonly<Record<string, string>> = {
  max_output_tokens:
    "The answer was cut off. Raise `max_output_tokens`, or give the model a larger context window, and send “Go on.”",
  max_agentic_turns: "It asked the model as often as it may. Raise `max_agentic_turns`, or send “Go on.”",
  max_tool_calls: "It made as many calls as it may. Raise `max_tool_calls`, or send “Go on.”",
  content_filter: "The model server's filter ended the answer.",
  cancelled: "It was cancelled. What came before is kept.",
};

/** About a run that ended early, by the reason in `incomplete_details`. */
export function adviceForIncomplete(reason: string): string {
  return byReason[reason] ?? "It ended before the model was done.";
}
