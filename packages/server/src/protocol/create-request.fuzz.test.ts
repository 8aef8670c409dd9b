import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ApiError } from "./api-error.ts";
import {
  type CreateRequest,
  defaultLimits,
  parseCreateRequest,
  parseInputTokensRequest,
} from "./create-request.ts";
import { credentialsOf, itemWithoutCredentials, withCredentials } from "./credentials.ts";
import { parseListQuery, parseRetrieveQuery } from "./query.ts";
import { responseSchema } from "./response.ts";
import { responseObject } from "./response-object.ts";
import { fromStoredRequest, toStoredRequest } from "./stored-request.ts";
import { change, fields, json, mutated, nasty, places, whole } from "./testkit/wild-bodies.ts";

type Json = fc.JsonValue;

/** A request, or a refusal with what is wrong about the refusal itself. */
type Outcome = { request: CreateRequest; flaw?: never } | { request?: never; flaw: string | undefined };

function outcome(read: () => { request: CreateRequest }): Outcome {
  try {
    return { request: read().request };
  } catch (error) {
    return { flaw: flawOf(error) };
  }
}

function flawOf(error: unknown): string | undefined {
  if (!(error instanceof ApiError)) return String(error);
  const { status, type, param, message } = error;
  if (status !== 400 || type !== "invalid_request_error") return `status ${status}, type ${type}`;
  if (!message.startsWith(`${param ?? "The body"}: expected `))
    return `the message does not name the field: ${message}`;
  return message.length > 2000 ? "the message is too long" : undefined;
}

function parse(body: unknown, isStrict = false) {
  return outcome(() => parseCreateRequest(body, { limits: defaultLimits, isStrict }));
}

/** What must hold of every request that is accepted. */
function expectUsable(body: Json): void {
  const before = JSON.stringify(body);
  const { request, flaw } = parse(body);
  expect(flaw).toBeUndefined();
  expect(JSON.stringify(body)).toBe(before);
  if (request) expectToBeWhole(request, body);
}

function expectToBeWhole(request: CreateRequest, body: Json): void {
  expect(
    request.input.every(({ type, id }) => typeof type === "string" && typeof (id ?? "") === "string"),
  ).toBe(true);
  const names = request.tools.flatMap(({ name }) => (typeof name === "string" ? [name] : []));
  expect(new Set(names).size).toBe(names.length);

  const { input } = request;
  // With its credentials, which are kept apart, it is whole again for another process to go on with.
  const stored = fromStoredRequest(JSON.parse(JSON.stringify(toStoredRequest(request))));
  const kept = { ...stored, input: input.map(itemWithoutCredentials) };
  const credentials = credentialsOf(request);
  expect(credentialsOf(kept)).toBeUndefined();
  expect(credentials === undefined ? kept : withCredentials(kept, credentials)).toEqual(request);
  // Read again, the items are the same: nothing is lost or changed the second time.
  expect(parse({ ...(body as object), input }).request).toEqual(request);

  const response = responseObject({
    id: "resp_1",
    status: "queued",
    background: request.background,
    model: request.model ?? "m",
    createdAtMs: 0,
    completedAtMs: null,
    previousResponseId: null,
    error: null,
    incompleteReason: null,
    usage: null,
    request: stored,
    output: [],
  });
  expect(responseSchema.safeParse(response).error).toBeUndefined();
}

function queryFlaw(
  read: (params: URLSearchParams) => unknown,
  given: Record<string, string>,
): string | undefined {
  try {
    read(new URLSearchParams(given));
    return undefined;
  } catch (error) {
    return flawOf(error);
  }
}

describe("whatever comes, reading ends with a request or with a 400 that names the field", () => {
  test("the body that uses everything is accepted", () => {
    expect(parse(whole)).toHaveProperty("request");
    expectUsable(whole);
  });

  test("any JSON", () => {
    fc.assert(
      fc.property(json, fc.boolean(), (body, isStrict) => {
        expect(parse(body, isStrict).flaw).toBeUndefined();
        const counted = outcome(() => parseInputTokensRequest(body, { limits: defaultLimits, isStrict }));
        expect(counted.flaw).toBeUndefined();
      }),
      { numRuns: 300 },
    );
  });

  test("any values in known fields", () => {
    const body = fc.dictionary(fc.constantFrom(...fields), nasty, { maxKeys: 4 });
    fc.assert(
      fc.property(body, (given) => expectUsable(JSON.parse(JSON.stringify({ input: "Hi", ...given })))),
      { numRuns: 500 },
    );
  });

  test("a body that uses everything, with some of it changed", () => {
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 3 }), (changes) =>
        expectUsable(mutated(changes)),
      ),
      { numRuns: 1000 },
    );
  });

  test("a body that uses everything, with some of it changed, in strict mode", () => {
    fc.assert(
      fc.property(change, (it) => {
        expect(parse(mutated([it]), true).flaw).toBeUndefined();
      }),
      { numRuns: 200 },
    );
  });

  test("every place of that body with a value of every other kind", () => {
    for (const path of places)
      for (const value of [null, true, 7, "x", [], {}, [[]], [{}]])
        expectUsable(mutated([{ path, what: "replace", key: "", value }]));
  });

  test("any query", () => {
    const query = fc.dictionary(
      fc.constantFrom(
        "limit",
        "order",
        "after",
        "before",
        "status",
        "background",
        "stream",
        "starting_after",
        "include",
      ),
      fc.oneof(fc.string(), fc.integer().map(String), fc.constantFrom("true", "asc", "1e9", "0x10", "-0")),
    );
    fc.assert(
      fc.property(query, (given) => {
        expect(queryFlaw(parseListQuery, given)).toBeUndefined();
        expect(queryFlaw(parseRetrieveQuery, given)).toBeUndefined();
      }),
    );
  });
});
