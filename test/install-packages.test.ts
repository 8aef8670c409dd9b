// What CI installs of the system, with an apt-get that is a stand-in.
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { repoRoot } from "./support/repo.ts";

const folder = mkdtempSync(join(tmpdir(), "rondo-packages-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs the script where only a few commands exist, and gives what it prints and the calls of apt-get. */
function run(name: string, aptGet: string, uid = "0") {
  const bin = join(folder, name);
  spawnSync("mkdir", [bin]);
  for (const command of ["bash", "timeout", "id", "sh"]) {
    const { stdout } = spawnSync("sh", ["-c", `command -v ${command}`], { encoding: "utf8" });
    symlinkSync(stdout.trim(), join(bin, command));
  }
  const calls = join(folder, `${name}.calls`);
  writeFileSync(calls, "");
  writeFileSync(join(bin, "apt-get"), `#!/bin/sh\necho "$@" >> ${calls}\necho a mirror\n${aptGet}\n`);
  chmodSync(join(bin, "apt-get"), 0o755);
  const { stdout, stderr, status } = spawnSync(join(repoRoot, ".ci/install-packages"), {
    encoding: "utf8",
    env: { PATH: bin, CI_UID: uid },
  });
  return { stdout, stderr, status, calls: readFileSync(calls, "utf8").trim().split("\n") };
}

test("missing packages are installed at once, and only what failed is named", () => {
  const { calls, ...printed } = run("good", "exit 0");
  expect(printed).toEqual({
    status: 0,
    stdout: expect.stringMatching(/^Installing bubblewrap .*tmux chromium …\n$/),
    stderr: "",
  });
  expect(calls).toHaveLength(2);
  expect(calls[1]).toContain("--no-install-recommends bubblewrap ");
});

test("a package that does not exist keeps none of the others out, and CI goes on", () => {
  const { calls, stdout, status } = run("partly", 'case "$*" in *runsc*) exit 100;; esac');
  expect(status).toBe(0);
  expect(stdout).toContain("Not installed, so that some tests are skipped: runsc.\n");
  expect(stdout).not.toContain("a mirror");
  expect(calls).toContainEqual(expect.stringMatching(/recommends haproxy$/));
});

test("without root, nothing is installed, and what is missing is named", () => {
  const { calls, stdout, status } = run("user", "exit 0", "1000");
  expect({ status, calls }).toEqual({ status: 0, calls: [""] });
  expect(stdout).toMatch(/^Missing, so that some tests are skipped: bubblewrap .*\.\n$/);
});
