// Filters the tools that an MCP server lists, page by page. A tool that is malformed or too large is left out, and so
// are those beyond the limits, each with a warning.

import type { Tool } from "@modelcontextprotocol/client";
import { isPlainObject } from "../error/check.ts";
import { describe } from "../error/describe.ts";
import { isTooDeep } from "../json/depth.ts";
import { jsonSize } from "../json/json-size.ts";
import type { CheckedMcpOptions } from "./mcp-options.ts";

/** More than any model server accepts. */
const maxSchemaBytes = 262_144;
const maxSchemaLevels = 200;
const maxNameLength = 256;

/** One listing, whose pages share their limits. */
export class ToolListing {
  readonly #options: CheckedMcpOptions;
  #count = 0;
  #bytes = 0;
  #isFull = false;
  #warnings = 0;

  constructor(options: CheckedMcpOptions) {
    this.#options = options;
  }

  /** A page without the tools that cannot be used. It is the last one once a limit is reached. */
  readPage(page: unknown): { tools: Tool[]; nextCursor?: string } {
    const { tools, nextCursor } = Object(page) as { tools?: unknown; nextCursor?: unknown };
    if (!Array.isArray(tools)) this.#warn(`listed no tools: expected a list, got ${describe(tools)}.`);
    const usable = (Array.isArray(tools) ? (tools as unknown[]) : [])
      .filter((tool): tool is Tool => this.#accepts(tool))
      .map((tool) => this.#truncated(tool));
    const isLast = this.#isFull || typeof nextCursor !== "string";
    return {
      ...(isPlainObject(page) && withoutList(page)),
      tools: usable,
      ...(!isLast && { nextCursor }),
    };
  }

  #truncated(tool: Tool): Tool {
    const { maxDescriptionChars: max } = this.#options;
    const cut = (text: string) => (text.length > max ? `${text.slice(0, max)}… (truncated)` : text);
    const { description, title } = tool;
    return {
      ...tool,
      ...(description !== undefined && { description: cut(description) }),
      ...(title !== undefined && { title: cut(title) }),
    };
  }

  #accepts(tool: unknown): boolean {
    if (this.#isFull) return false;
    const { maxTools, maxListBytes } = this.#options;
    const fault = faultOf(tool);
    if (fault !== undefined) {
      this.#warn(`has a tool that is left out: ${fault}.`);
      return false;
    }
    this.#count += 1;
    this.#bytes += jsonSize(tool, maxListBytes);
    this.#isFull = this.#count > maxTools || this.#bytes > maxListBytes;
    if (!this.#isFull) return true;
    const [limit, what, option] =
      this.#count > maxTools
        ? [maxTools, "tools", "maxTools"]
        : [maxListBytes, "bytes of tools", "maxListBytes"];
    this.#warn(
      `has more than ${limit} ${what}; the rest are left out. Name the ones to use in allowedTools, or raise ${option}.`,
      true,
    );
    return false;
  }

  /** A list full of mistakes must not flood the log. */
  #warn(words: string, isLast = false): void {
    this.#warnings += 1;
    if (this.#warnings > 10 && !isLast) return;
    this.#options.onWarning(`The MCP server '${this.#options.name}' ${words}`);
  }
}

function withoutList({ tools: _tools, nextCursor: _cursor, ...rest }: Record<string, unknown>) {
  return rest;
}

function faultOf(tool: unknown): string | undefined {
  if (!isPlainObject(tool)) return `expected an object, got ${describe(tool)}`;
  const { name, inputSchema, outputSchema, description, title, annotations } = tool;
  if (typeof name !== "string" || name === "" || name.length > maxNameLength)
    return `expected a name of 1 to ${maxNameLength} characters, got ${describe(name)}`;
  const at = `'${name}'`;
  if (!isPlainObject(inputSchema))
    return `${at}.inputSchema: expected a schema, got ${describe(inputSchema)}`;
  if (outputSchema !== undefined && !isPlainObject(outputSchema))
    return `${at}.outputSchema: expected a schema, got ${describe(outputSchema)}`;
  for (const [key, value] of Object.entries({ description, title }))
    if (value !== undefined && typeof value !== "string")
      return `${at}.${key}: expected a string, got ${describe(value)}`;
  if (annotations !== undefined && !isPlainObject(annotations))
    return `${at}.annotations: expected an object, got ${describe(annotations)}`;
  if (isTooDeep(tool, maxSchemaLevels)) return `${at}: expected at most ${maxSchemaLevels} levels, got more`;
  if (jsonSize(inputSchema, maxSchemaBytes) > maxSchemaBytes)
    return `${at}.inputSchema: expected at most ${maxSchemaBytes} bytes, got more`;
  return undefined;
}
