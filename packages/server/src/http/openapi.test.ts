import { Validator } from "@cfworker/json-schema";
import type { JsonObject, JsonValue } from "rondo";
import { describe, expect, test } from "vitest";
import { openapiDocument } from "./openapi.ts";
import { allRoutes } from "./routes.ts";
import { testOptions } from "./testkit/test-server.ts";

const document = openapiDocument(allRoutes(testOptions()), "1.2.3");

/** Every object in a value, with the path to it. */
function* objectsIn(value: JsonValue | undefined, path = "#"): Generator<[string, JsonObject]> {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) yield [path, value];
  for (const [key, inner] of Object.entries(value)) yield* objectsIn(inner, `${path}/${key}`);
}

function resolve(ref: string): JsonValue | undefined {
  let found: JsonValue | undefined = document;
  for (const key of ref.slice(2).split("/")) found = (found as JsonObject | undefined)?.[key];
  return found;
}

const methods = ["get", "post", "delete"];
const operations = Object.entries(document["paths"] as Record<string, JsonObject>).flatMap(([path, item]) =>
  methods
    .filter((method) => item[method])
    .map((method) => ({ method, path, operation: item[method] as JsonObject, item })),
);

/** A schema of the document, ready to validate. */
function validator(name: string) {
  const { components } = document as { components: { schemas: JsonObject } };
  const text = JSON.stringify({ $defs: components.schemas, $ref: `#/$defs/${name}` });
  return new Validator(JSON.parse(text.replaceAll("#/components/schemas/", "#/$defs/")), "2020-12");
}

describe("the OpenAPI document", () => {
  test("has all endpoints", () => {
    expect(operations.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "get /v1/responses",
      "post /v1/responses",
      "post /v1/responses/input_tokens",
      "post /v1/responses/compact",
      "get /v1/responses/{response_id}",
      "delete /v1/responses/{response_id}",
      "post /v1/responses/{response_id}/cancel",
      "get /v1/responses/{response_id}/input_items",
      "get /v1/responses/{response_id}/trace",
      "get /v1/runs",
      "post /v1/conversations",
      "get /v1/conversations/{conversation_id}",
      "post /v1/conversations/{conversation_id}",
      "delete /v1/conversations/{conversation_id}",
      "get /v1/conversations/{conversation_id}/items",
      "post /v1/conversations/{conversation_id}/items",
      "get /v1/conversations/{conversation_id}/items/{item_id}",
      "delete /v1/conversations/{conversation_id}/items/{item_id}",
      "get /v1/files",
      "post /v1/files",
      "get /v1/files/{file_id}",
      "delete /v1/files/{file_id}",
      "get /v1/files/{file_id}/content",
      "get /v1/containers",
      "post /v1/containers",
      "get /v1/containers/{container_id}",
      "delete /v1/containers/{container_id}",
      "get /v1/containers/{container_id}/files",
      "post /v1/containers/{container_id}/files",
      "get /v1/containers/{container_id}/files/{file_id}",
      "delete /v1/containers/{container_id}/files/{file_id}",
      "get /v1/containers/{container_id}/files/{file_id}/content",
      "post /v1/chat/completions",
      "post /v1/completions",
      "post /v1/embeddings",
      "get /",
      "get /console/{name}",
      "get /v1/system",
      "get /v1/system/samples",
      "get /v1/system/log",
      "get /v1/system/models",
      "post /v1/system/models/check",
      "get /v1/tools",
      "post /v1/tools/call",
      "get /v1/models",
      "get /v1/models/{model}",
      "get /healthz",
      "get /readyz",
      "get /metrics",
      "get /openapi.json",
    ]);
  });

  test("has the server's version and a relative address", () => {
    expect(document).toMatchObject({
      openapi: "3.1.0",
      info: { title: "Rondo", version: "1.2.3" },
      servers: [{ url: "/" }],
    });
  });

  test("has no dangling references", () => {
    const refs = [...objectsIn(document)].flatMap(([, { $ref }]) => (typeof $ref === "string" ? [$ref] : []));
    expect(refs.length).toBeGreaterThan(20);
    expect(refs.filter((ref) => !/^#\/components\/schemas\/\w+$/.test(ref))).toEqual([]);
    expect(refs.filter((ref) => typeof resolve(ref) !== "object")).toEqual([]);
  });

  test.each(operations)("is complete for $method $path", ({ path, operation, item }) => {
    expect(operation["operationId"]).toBeTypeOf("string");
    expect(operation["summary"]).toBeTypeOf("string");
    const responses = Object.entries(operation["responses"] as Record<string, JsonObject>);
    expect(responses.map(([status]) => status)).toEqual(expect.arrayContaining(["200", "default"]));
    for (const [status, response] of responses) {
      expect(status).toMatch(/^([1-5]\d\d|default)$/);
      expect(response["description"]).toBeTypeOf("string");
      for (const media of Object.values(response["content"] as JsonObject))
        expect(media).toHaveProperty("schema");
    }
    const placeholders = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const parameters = [item["parameters"] ?? [], operation["parameters"] ?? []].flat() as JsonObject[];
    expect(parameters.filter((it) => it["in"] === "path").map((it) => it["name"])).toEqual(placeholders);
    for (const parameter of parameters) expect(parameter["schema"]).toBeTypeOf("object");
  });

  test("names each operation once", () => {
    const ids = operations.map(({ operation }) => operation["operationId"]);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("is plain JSON without traces of how it was made", () => {
    const text = JSON.stringify(document);
    expect(JSON.parse(text)).toEqual(document);
    expect(text).not.toMatch(/\$schema|\$id|__shared|9007199254740991/);
  });

  test("describes requests as they are validated", () => {
    const request = validator("CreateResponse");
    const accepts = (body: unknown) => request.validate(body).valid;
    expect(accepts({ model: "m", input: "Hi", tools: [{ type: "function", name: "f" }], surprise: 1 })).toBe(
      true,
    );
    expect(
      accepts({ input: [{ role: "user", content: "Hi" }, { id: "msg_1" }, { type: "unheard_of" }] }),
    ).toBe(true);
    expect(accepts({ input: [{ role: "nobody", content: "Hi" }] })).toBe(false);
    expect(accepts({ input: "Hi", tools: [{ type: "function" }] })).toBe(false);
    expect(accepts({ input: "Hi", temperature: 3 })).toBe(false);
  });

  test("takes items and events that executors make, and checks the known ones", () => {
    const isItem = (item: unknown) => validator("OutputItem").validate(item).valid;
    expect(isItem({ type: "acme.search_call", id: "s_1", status: "completed", hits: [1] })).toBe(true);
    expect(isItem({ type: "acme.search_call" })).toBe(false);
    expect(isItem({ type: "custom_tool_call", id: "ctc_1", call_id: "c", name: "f", input: "" })).toBe(true);
    expect(isItem({ type: "custom_tool_call", id: "ctc_1" })).toBe(false);
    const isEvent = (event: unknown) => validator("StreamEvent").validate(event).valid;
    const place = { item_id: "s_1", output_index: 0, sequence_number: 4 };
    expect(isEvent({ type: "response.acme.search_call.searching", ...place, query: "q" })).toBe(true);
    expect(isEvent({ type: "response.acme.search_call.searching" })).toBe(false);
    expect(isEvent({ type: "response.mcp_call_arguments.delta", ...place, delta: "{" })).toBe(true);
    expect(isEvent({ type: "response.mcp_call_arguments.delta", ...place })).toBe(false);
  });
});
