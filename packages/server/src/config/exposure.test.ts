import { describe, expect, test } from "vitest";
import { resolveConfig } from "./check-config.ts";
import { ConfigError } from "./config-error.ts";
import { checkExposure } from "./exposure.ts";

const auth = { keys: [{ owner: "a", hash: `sha256:${"0".repeat(64)}` }] };

describe("a server without auth", () => {
  test.each([
    "127.0.0.1",
    "127.8.9.1",
    "::1",
    "0:0:0:0:0:0:0:1",
    "::ffff:127.0.0.1",
    "localhost",
    "LOCALHOST",
  ])("may listen on %s", (host) => {
    expect(() => checkExposure(resolveConfig({ host }))).not.toThrow();
  });

  test.each([
    "0.0.0.0",
    "::",
    "::ffff:0.0.0.0",
    "192.168.1.2",
    "128.0.0.1",
    "fe80::1",
    "my-host",
    "localhost.evil.example",
    "0",
  ])("may not listen on %s, and is told how to make a key", (host) => {
    const start = () => checkExposure(resolveConfig({ host }));
    expect(start).toThrow(ConfigError);
    expect(start).toThrow(/`rondo key`.*RONDO_AUTH_KEYS/s);
  });
});

test("a server with auth may listen anywhere", () => {
  expect(() => checkExposure(resolveConfig({ host: "0.0.0.0", auth }))).not.toThrow();
});
