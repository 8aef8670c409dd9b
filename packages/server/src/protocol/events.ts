// The events of a stream, as they stand on the wire. `sequence_number` is given to them by whoever sends them.

import type { OutputItem, OutputText } from "./items.ts";
import type { ResponseError, ResponseObject } from "./response.ts";

interface InItem {
  item_id: string;
  output_index: number;
}

interface InPart extends InItem {
  content_index: number;
}

type ContentPart = OutputText | { type: "reasoning_text"; text: string };

/** An event before it has its place in the stream. */
export type EventBody =
  | {
      type:
        | "response.created"
        | "response.queued"
        | "response.in_progress"
        | "response.completed"
        | "response.incomplete"
        | "response.failed";
      response: ResponseObject;
    }
  | {
      type: "response.output_item.added" | "response.output_item.done";
      output_index: number;
      item: OutputItem;
    }
  | ({ type: "response.content_part.added" | "response.content_part.done"; part: ContentPart } & InPart)
  | ({ type: "response.output_text.delta"; delta: string; logprobs: never[] } & InPart)
  | ({ type: "response.output_text.done"; text: string; logprobs: never[] } & InPart)
  | ({ type: "response.reasoning_text.delta"; delta: string } & InPart)
  | ({ type: "response.reasoning_text.done"; text: string } & InPart)
  | ({ type: "response.function_call_arguments.delta"; delta: string } & InItem)
  | ({ type: "response.function_call_arguments.done"; name: string; arguments: string } & InItem)
  | ({ type: "response.custom_tool_call_input.delta"; delta: string } & InItem)
  | ({ type: "response.custom_tool_call_input.done"; input: string } & InItem)
  | ({ type: "response.mcp_call_arguments.delta"; delta: string } & InItem)
  | ({ type: "response.mcp_call_arguments.done"; arguments: string } & InItem)
  | ({
      type: "response.mcp_call.in_progress" | "response.mcp_call.completed" | "response.mcp_call.failed";
    } & InItem)
  | ({
      type:
        | "response.mcp_list_tools.in_progress"
        | "response.mcp_list_tools.completed"
        | "response.mcp_list_tools.failed";
    } & InItem)
  /** The same facts twice: flat as the API has them, and nested as some clients look for them. */
  | { type: "error"; code: string; message: string; param: string | null; error: ResponseError }
  | { type: "keepalive" };

export type StreamEvent = EventBody & { sequence_number: number };
