// Every row of the table of routes is served, documented, and protected by keys: a new endpoint needs a row and no more.

import type { JsonObject } from "rondo";
import { describe, expect, test } from "vitest";
import { notFound } from "../protocol/api-error.ts";
import { authenticator } from "./auth.ts";
import { hashKey, newKey } from "./auth-keys.ts";
import { allRoutes } from "./routes.ts";
import { testOptions, testServer } from "./testkit/test-server.ts";

const routes = allRoutes(testOptions());
const key = newKey();
const authenticate = await authenticator({ keys: [{ owner: "ann", hash: hashKey(key) }] });
const models = { resolve: () => Promise.reject(notFound("There are no models.", "model_not_found")) };

const urlOf = (path: string) => path.replace(/:\w+(\{[^}]*\})?/g, "x");

function requestFor({ method, body }: (typeof routes)[number], authorization?: string): RequestInit {
  return {
    method,
    headers: {
      ...(authorization && { authorization }),
      ...(body && { "content-type": "application/json" }),
    },
    ...(body && { body: "{}" }),
  };
}

describe.each(routes)("$method $path", (route) => {
  test("is answered by its own row", async () => {
    await using server = await testServer({}, { authenticate, models, isOpenOnLoopback: false });
    const reply = await server.fetch(urlOf(route.path), requestFor(route, `Bearer ${key}`));
    const { error } = Object(await reply.json().catch(() => ({}))) as { error?: { code: string } };
    expect(reply.status).toBeLessThan(500);
    expect(["unknown_path", "method_not_allowed", "invalid_api_key"]).not.toContain(error?.code);
    // Counted when the reply is closed, which the client may learn first.
    const counted = `rondo_http_requests_total{route="${route.path}",method="${route.method}"`;
    await expect.poll(() => server.metrics.text()).toContain(counted);
  });

  test("needs a key, unless it is public", async () => {
    await using server = await testServer({}, { authenticate, models, isOpenOnLoopback: false });
    const reply = await server.fetch(urlOf(route.path), requestFor(route));
    expect(reply.status === 401).toBe(route.isPublic !== true);
    await reply.body?.cancel();
  });

  test("is in the OpenAPI document that the server gives", async () => {
    await using server = await testServer();
    const { paths } = (await (await server.fetch("/openapi.json")).json()) as {
      paths: Record<string, Record<string, JsonObject>>;
    };
    const operations = Object.values(paths).map((item) => item[route.method.toLowerCase()]);
    expect(operations).toContainEqual(
      expect.objectContaining({ operationId: route.operationId, summary: route.summary }),
    );
  });
});

test("only health, metrics, the OpenAPI document and the console's files are public", () => {
  const open = routes.filter(({ isPublic }) => isPublic).map(({ path }) => path);
  expect(open).toEqual(["/", "/console/:name", "/healthz", "/readyz", "/metrics", "/openapi.json"]);
});
