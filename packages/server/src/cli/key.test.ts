import { expect, test } from "vitest";
import { parse } from "yaml";
import { resolveConfig } from "../config/check-config.ts";
import { loadConfig } from "../config/load.ts";
import { authenticator } from "../http/auth.ts";
import { runCli } from "./program.ts";
import { testIo } from "./testkit/test-io.ts";

/** What `rondo key` prints: the key, the lines for YAML and the variable. */
async function printed(...args: string[]) {
  const io = testIo();
  expect(await runCli(["key", ...args], io)).toBe(0);
  expect(io.err).toBe("");
  const [key = ""] = /^ {2}rondo_\S+$/m.exec(io.out) ?? [];
  const [yaml = ""] = /^ {2}auth:\n(?: {4}.*\n)+/m.exec(io.out) ?? [];
  const [, variable = ""] = /RONDO_AUTH_KEYS=(\S+)/.exec(io.out) ?? [];
  return { key: key.trim(), yaml, variable };
}

test("the printed config accepts the key, as its owner", async () => {
  const { key, yaml, variable } = await printed("--owner", "alice@example.org");
  const fromYaml = resolveConfig(parse(yaml)).auth;
  const fromVariable = (await loadConfig({ cwd: "/", env: { RONDO_AUTH_KEYS: variable } })).auth;
  for (const auth of [fromYaml, fromVariable]) {
    const authenticate = await authenticator(auth);
    const { owner } = await authenticate({ authorization: `Bearer ${key}` });
    expect(owner).toBe("key:alice@example.org");
  }
});

test("the owner may be given without the flag, and there is only one", async () => {
  expect((await printed("alice")).variable).toMatch(/^alice=sha256:/);
  expect((await printed("alice", "--owner", "alice")).variable).toMatch(/^alice=/);
  const io = testIo();
  expect(await runCli(["key", "alice", "--owner", "bob"], io)).toBe(2);
  expect(io.err).toContain("a key has one owner, got alice and bob");
});

test("each key is different, and the owner is optional", async () => {
  const [first, second] = [await printed(), await printed()];
  expect(first.key).not.toBe(second.key);
  expect(first.variable).toMatch(/^me=sha256:/);
});

test.each(["", "a b", "a=b", "a,b", "x".repeat(101)])("the owner cannot be %j", async (owner) => {
  const io = testIo();
  expect(await runCli(["key", "--owner", owner], io)).toBe(2);
  expect(await runCli(["key", owner], io)).toBe(2);
  expect(io.err).toContain("Expected up to 100 letters, digits, or any of _ . @ -");
});
