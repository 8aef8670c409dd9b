import { spawnSync } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { join, sep } from "node:path";
import { expect, test } from "vitest";
import { repoRoot } from "./support/repo.ts";

const script = join(repoRoot, "scripts/check-node.cjs");

/** Runs the script in a Node that claims to be the given version. */
function checkOn(version: string) {
  const pretend = `Object.defineProperty(process, "versions", { value: { node: ${JSON.stringify(version)} } })`;
  return spawnSync(process.execPath, ["-e", `${pretend}; require(${JSON.stringify(script)})`], {
    encoding: "utf8",
  });
}

test.each(["0.12.18", "9.11.2", "20.20.2", "23.11.1"])(
  "Node %s is rejected, with the reason and a fix",
  (version) => {
    const { status, stdout, stderr } = checkOn(version);
    expect(status).toBe(1);
    expect(stdout).toBe("");
    expect(stderr).toContain("needs Node 24 or newer");
    expect(stderr).toContain(`runs on Node ${version}`);
    expect(stderr).toContain(`${process.platform}-${process.arch}`);
    expect(stderr).toContain("npm ci --include=optional");
    expect(stderr).toContain("install Node 24 or newer");
  },
);

test.each(["24.0.0", "26.1.0", "100.0.0"])("Node %s passes silently", (version) => {
  expect(checkOn(version)).toMatchObject({ status: 0, stdout: "", stderr: "" });
});

test("the tests run on Node 24 or newer", () => {
  expect(Number.parseInt(process.versions.node, 10)).toBeGreaterThanOrEqual(24);
});

// Outside an npm script (in an editor, say) the developer's own Node may run the tests.
const platform = process.platform === "win32" ? "win" : process.platform;
const ownNode = join(repoRoot, "node_modules", `node-${platform}-${process.arch}`);
const expectsOwnNode = process.env["npm_lifecycle_event"] !== undefined && existsSync(ownNode);

test.runIf(expectsOwnNode)("npm scripts run on the Node that the repo brings", () => {
  expect(realpathSync(process.execPath).startsWith(realpathSync(ownNode) + sep)).toBe(true);
});
