// What a person can do about an answer that failed or ended early.

import type { ResponseObject } from "../api/response.ts";

const advice: Readonly<Record<string, string>> = {
  model_not_found: "Choose another model below. The home page lists those that answer.",
  model_unreachable:
    "Start the model server, or choose another model below. The home page shows which ones answer.",
  model_connection:
    "Start the model server, or choose another model below. The home page shows which ones answer.",
  model_auth: "The key of the model server is set in this server's config.",
  context_length_exceeded:
    "Start a new chat, edit an earlier message, or choose a model with a larger context.",
  rate_limit_exceeded: "Too much is asked of the model server at once. Wait a moment, then try again.",
  too_many_requests: "Too many of your requests are in flight. Wait for them, then try again.",
  store_unavailable: "The store does not work at the moment. The system page has the log.",
  interrupted: "The server was stopped while it answered. Try again.",
  previous_response_not_found: "An earlier message was deleted. Start a new chat.",
  decided_before: "Load this page again to see how the chat went on.",
  request_too_large: "The images are too large together. Send fewer or smaller ones.",
};

export function adviceFor(code: string): string {
  return advice[code] ?? "Try again. If it fails again, its run and the system page's log say more.";
}

const reasons: Readonly<Record<string, string>> = {
  max_output_tokens: "The answer reached its length limit. Raise it in the settings, or ask to continue.",
  content_filter: "The model server's filter ended the answer.",
  max_agentic_turns:
    "The model asked for tools again and again until the limit of rounds. Ask it to continue.",
  max_tool_calls: "The model reached the limit of tool calls. Ask it to continue.",
  cancelled: "Stopped. Ask to continue, or edit the message.",
};

/** How an answer ended that is not complete; undefined if it is. */
export function endingOf({ status, incomplete_details: details }: ResponseObject): string | undefined {
  if (status === "cancelled") return reasons["cancelled"];
  return status === "incomplete" ? (reasons[details?.reason ?? ""] ?? "The answer ended early.") : undefined;
}
