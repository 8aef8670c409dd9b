import type { Sandbox, SandboxProbe } from "rondo/sandbox";
import { expect, test } from "vitest";
import { resolveConfig } from "../../config/check-config.ts";
import { checkSandbox } from "./sandbox.ts";

/** A tier whose probes came out like this, and which runs nothing. */
function tierWith(...probes: SandboxProbe[]): Sandbox {
  const isAvailable = probes.every(({ holds, isRequired }) => holds || !isRequired);
  const refuse = () => Promise.reject(new Error("This tier runs nothing."));
  return {
    kind: "acme",
    check: async () => ({ isAvailable, probes }),
    open: refuse,
    containers: async () => [],
    remove: refuse,
    close: async () => {},
  };
}

const probe = (name: string, given: Partial<SandboxProbe>): SandboxProbe => ({
  name,
  holds: true,
  isRequired: true,
  detail: `${name} was tried.`,
  ...given,
});

const check = (kind: Sandbox | "none") =>
  checkSandbox(resolveConfig({ sandbox: { kind, language: "javascript" } }));

test("the doctor says which tier works, what does not hold, and what to do", async () => {
  expect(await check("none")).toMatchObject({ name: "sandbox", status: "skipped", code: "sandbox_off" });
  expect(await check(tierWith(probe("a", {}), probe("b", {})))).toMatchObject({
    status: "ok",
    message: "sandbox acme: runs JavaScript; 2 of 2 probes hold",
  });
  expect(
    await check(tierWith(probe("a", {}), probe("b", { holds: false, isRequired: false }))),
  ).toMatchObject({
    status: "warning",
    message: expect.stringContaining("1 of 2 probes hold. b was tried."),
  });
  expect(await check(tierWith(probe("a", { holds: false, remedy: "Install it." })))).toMatchObject({
    status: "failed",
    code: "no_sandbox",
    message: expect.stringContaining("'acme' does not hold here. a was tried. Install it."),
  });
});
