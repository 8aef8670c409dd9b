import { expect, test } from "vitest";
import { Router } from "./router.ts";

function routerOf(...rows: readonly [method: string, path: string][]): Router<string> {
  const router = new Router<string>();
  for (const [method, path] of rows) router.add(method, path, `${method} ${path}`);
  return router;
}

const router = routerOf(
  ["GET", "/"],
  ["POST", "/v1/responses"],
  ["GET", "/v1/responses"],
  ["GET", "/v1/responses/:id"],
  ["DELETE", "/v1/responses/:id"],
  ["POST", "/v1/responses/compact"],
  ["POST", "/v1/responses/:id/cancel"],
  ["GET", "/v1/files/:id/parts/:part"],
  ["GET", "/v1/models"],
  ["GET", "/v1/models/:id{.+}"],
);

test.each<[method: string, path: string, row: string, params: object]>([
  ["GET", "/", "GET /", {}],
  ["POST", "/v1/responses", "POST /v1/responses", {}],
  ["GET", "/v1/responses/", "GET /v1/responses", {}],
  ["HEAD", "/v1/responses", "GET /v1/responses", {}],
  ["GET", "/v1/responses/resp_1", "GET /v1/responses/:id", { id: "resp_1" }],
  ["HEAD", "/v1/responses/resp_1/", "GET /v1/responses/:id", { id: "resp_1" }],
  ["DELETE", "/v1/responses/resp_1", "DELETE /v1/responses/:id", { id: "resp_1" }],
  ["POST", "/v1/responses/compact", "POST /v1/responses/compact", {}],
  ["GET", "/v1/responses/compact", "GET /v1/responses/:id", { id: "compact" }],
  ["POST", "/v1/responses/a/cancel", "POST /v1/responses/:id/cancel", { id: "a" }],
  ["GET", "/v1/files/a/parts/b", "GET /v1/files/:id/parts/:part", { id: "a", part: "b" }],
  ["GET", "/v1/models/", "GET /v1/models", {}],
  ["GET", "/v1/models/org/model", "GET /v1/models/:id{.+}", { id: "org/model" }],
  ["GET", "/v1/models/org%2Fmodel", "GET /v1/models/:id{.+}", { id: "org/model" }],
  ["GET", "/v1/responses/a%2Fb", "GET /v1/responses/:id", { id: "a/b" }],
  ["GET", "/v1/responses/100%", "GET /v1/responses/:id", { id: "100%" }],
  ["GET", "/v1/%72esponses/a", "GET /v1/responses/:id", { id: "a" }],
])("%s %s is answered by %s", (method, path, row, params) => {
  expect(router.find(method, path)).toEqual({ value: row, params });
});

test.each([
  ["GET", ""],
  ["GET", "/v1"],
  ["GET", "/v1/responses//"],
  ["GET", "/v1/responses/a/b"],
  ["POST", "/v1/responses//cancel"],
  ["PUT", "/v1/responses"],
  ["GET", "v1/responses"],
  ["GET", "/V1/responses"],
])("%s %s has no row", (method, path) => {
  expect(router.find(method, path)).toBeUndefined();
});

test("a path tells its methods", () => {
  expect(router.methodsOf("/v1/responses/")).toEqual(["POST", "GET"]);
  expect(router.methodsOf("/v1/responses/compact")).toEqual(["GET", "DELETE", "POST"]);
  expect(router.methodsOf("/v1/other")).toEqual([]);
});
