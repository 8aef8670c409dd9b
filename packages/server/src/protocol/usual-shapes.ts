// The shapes that nearly all requests and their items and tools have: messages of text, calls with their outputs,
// functions. What is found to have one of them is valid by its schema, which would take many times as long to say so.

type Fields = Readonly<Record<string, unknown>>;

/** Whether the schema of requests accepts it but for its items and tools, without a doubt, and leaves it as it is. */
export function isUsualRequest(body: unknown): boolean {
  return isObject(body) && Object.keys(body).every((field) => usualFields.get(field)?.(body[field]) === true);
}

/** Whether the schema of items accepts it, without a doubt. */
export function isUsualItem(item: unknown): boolean {
  if (!isObject(item) || !isText(item["id"]) || !isText(item["status"]) || !isText(item["created_by"]))
    return false;
  switch (item["type"]) {
    case undefined:
    case "message":
      return roles.has(item["role"]) && isText(item["phase"]) && isUsualContent(item["content"]);
    case "function_call":
      return (
        hasCallId(item) && isName(item["name"]) && typeof item["arguments"] === "string" && isPlainCall(item)
      );
    case "function_call_output":
      return hasCallId(item) && isUsualContent(item["output"]) && isText(item["name"]) && isPlainCall(item);
    default:
      return false;
  }
}

/** Whether the schema of tools accepts it, without a doubt. */
export function isUsualFunction(tool: unknown): boolean {
  if (!isObject(tool) || tool["type"] !== "function" || !isName(tool["name"])) return false;
  const { description, parameters, strict } = tool;
  return (
    isText(description) &&
    (parameters == null || isObject(parameters)) &&
    (strict == null || typeof strict === "boolean") &&
    rareFields.every((field) => tool[field] === undefined)
  );
}

const usualFields: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ["model", isShortName],
  ["input", (value) => isText(value) || Array.isArray(value)],
  ["instructions", isText],
  ["previous_response_id", isShortName],
  ["tools", (value) => value == null || Array.isArray(value)],
  ["parallel_tool_calls", isFlag],
  ["stream", isFlag],
  ["background", isFlag],
  ["store", isFlag],
  ["max_output_tokens", (value) => value == null || (Number.isSafeInteger(value) && (value as number) > 0)],
  ["temperature", (value) => value == null || (typeof value === "number" && value >= 0 && value <= 2)],
  ["user", isText],
  ["prompt_cache_key", isText],
]);

const roles: ReadonlySet<unknown> = new Set(["user", "assistant", "system", "developer"]);
const textTypes: ReadonlySet<unknown> = new Set(["input_text", "output_text", "text"]);
const rareFields = ["allowed_callers", "async", "defer_loading", "output_schema"];

function isUsualContent(content: unknown): boolean {
  if (typeof content === "string") return true;
  return Array.isArray(content) && content.every(isTextPart);
}

function isTextPart(part: unknown): boolean {
  return isObject(part) && textTypes.has(part["type"]) && typeof part["text"] === "string";
}

function hasCallId({ call_id: id }: Fields): boolean {
  return isName(id);
}

function isPlainCall({ namespace, async: isAsync, caller }: Fields): boolean {
  return isText(namespace) && isAsync === undefined && caller === undefined;
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isName(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

function isShortName(value: unknown): boolean {
  return value == null || (typeof value === "string" && value !== "" && value.length <= 256);
}

function isFlag(value: unknown): boolean {
  return value == null || typeof value === "boolean";
}

/** A text that may be left out. */
function isText(value: unknown): boolean {
  return value == null || typeof value === "string";
}
