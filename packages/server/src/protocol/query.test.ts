import { describe, expect, test } from "vitest";
import type { z } from "zod";
import { ApiError } from "./api-error.ts";
import { listQuerySchema, pageQuerySchema, parseQuery, retrieveQuerySchema } from "./query.ts";

function refusal(schema: z.ZodObject, query: string): string {
  try {
    parseQuery(schema, new URLSearchParams(query));
  } catch (error) {
    if (error instanceof ApiError && error.status === 400) return `${error.param} | ${error.message}`;
  }
  throw new Error("Expected the query to be refused.");
}

describe("the query of a list", () => {
  test("gives the 20 newest by default", () => {
    expect(parseQuery(pageQuerySchema, new URLSearchParams())).toEqual({ limit: 20, order: "desc" });
    expect(parseQuery(listQuerySchema, new URLSearchParams("limit=&order=&after=&other=1"))).toEqual({
      limit: 20,
      order: "desc",
    });
  });

  test("has a page and filters", () => {
    const query = "limit=100&order=asc&after=1&before=resp_2&status=requires_action&model=7&background=false";
    expect(parseQuery(listQuerySchema, new URLSearchParams(query))).toEqual({
      limit: 100,
      order: "asc",
      after: "1",
      before: "resp_2",
      status: "requires_action",
      model: "7",
      background: false,
    });
    expect(parseQuery(pageQuerySchema, new URLSearchParams(query))).not.toHaveProperty("status");
  });

  test.each([
    ["limit=0", "limit | limit: expected a number of at least 1, got 0."],
    ["limit=101", "limit | limit: expected a number of at most 100, got 101."],
    ["limit=1.5", 'limit | limit: expected a number, got "1.5".'],
    ["limit=many", 'limit | limit: expected a number, got "many".'],
    [`limit=${"9".repeat(400)}`, `limit | limit: expected a number, got the text "${"9".repeat(57)}"….`],
    ["order=up", 'order | order: expected one of "asc", "desc", got "up".'],
    ["background=maybe", 'background | background: expected true or false, got "maybe".'],
  ])("is refused: %s", (query, message) => {
    expect(refusal(listQuerySchema, query)).toBe(message);
  });

  test("names the states when it asks for another", () => {
    expect(refusal(listQuerySchema, "status=done")).toContain('"requires_action", got "done"');
  });
});

describe("the query of one response", () => {
  test("asks for the response by default", () => {
    expect(parseQuery(retrieveQuerySchema, new URLSearchParams())).toEqual({ stream: false, include: [] });
  });

  test("may ask for the events after a number", () => {
    expect(parseQuery(retrieveQuerySchema, new URLSearchParams("stream=true&starting_after=0"))).toEqual({
      stream: true,
      starting_after: 0,
      include: [],
    });
  });

  test.each(["include=a&include=b", "include[]=a&include[]=b", "include=a,b"])(
    "may ask for more data: %s",
    (query) => {
      expect(parseQuery(retrieveQuerySchema, new URLSearchParams(query)).include).toEqual(["a", "b"]);
    },
  );

  test("is rejected with a negative number", () => {
    expect(refusal(retrieveQuerySchema, "starting_after=-1")).toBe(
      "starting_after | starting_after: expected a number of at least 0, got -1.",
    );
  });
});
