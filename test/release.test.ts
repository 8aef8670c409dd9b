import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { compareVersions, releaseChangelog, versionedFiles, withVersion } from "../scripts/release-files.ts";
import { repoRoot } from "./support/repo.ts";

const read = (file: string) => readFileSync(join(repoRoot, file), "utf8");

const manifests = ["packages/rondo/package.json", "packages/server/package.json"].map((file) =>
  JSON.parse(read(file)),
);

test("both packages have one version, and all files that name it agree", () => {
  const [version] = manifests.map((manifest) => manifest.version);
  expect(manifests[1].version).toBe(version);
  expect(manifests[1].dependencies.rondo).toBe(`^${version}`);
  expect(versionedFiles.filter((file) => withVersion(read(file), version, "x") === read(file))).toEqual([]);
});

test.each(manifests)(
  "the manifest of $name has what a registry shows, and what old tools look for",
  (manifest) => {
    expect(manifest).toMatchObject({
      author: "Rondo contributors",
      homepage: expect.stringMatching(/^https:/),
      bugs: expect.stringMatching(/^https:/),
      repository: { type: "git", url: expect.stringMatching(/^git\+https:.*\.git$/) },
      publishConfig: { access: "public" },
      main: manifest.exports["."].default,
      types: manifest.exports["."].types,
    });
  },
);

test("versions are compared by their numbers", () => {
  expect(compareVersions("0.10.0", "0.9.9")).toBeGreaterThan(0);
  expect(compareVersions("1.2.3", "1.2.3")).toBe(0);
  expect(compareVersions("1.2.3", "1.3.0")).toBeLessThan(0);
  expect(() => compareVersions("1.2", "1.2.0")).toThrow("Expected a version such as 1.2.3");
});

test("only the version itself is replaced", () => {
  expect(withVersion('"0.1.0", ^0.1.0, v0.1.0.tgz; 10.1.0, 0.1.01, 0.1.0.5', "0.1.0", "0.2.0")).toBe(
    '"0.2.0", ^0.2.0, v0.2.0.tgz; 10.1.0, 0.1.01, 0.1.0.5',
  );
});

test("a release turns what is unreleased into a version", () => {
  const text = "# Changelog\n\n## Unreleased\n\n- News.\n\n## 0.1.0 (2026-01-01)\n\n- Old.\n";
  expect(releaseChangelog(text, "0.2.0", "2026-02-02")).toBe(
    "# Changelog\n\n## Unreleased\n\n## 0.2.0 (2026-02-02)\n\n- News.\n\n## 0.1.0 (2026-01-01)\n\n- Old.\n",
  );
  expect(() => releaseChangelog(text, "0.1.0", "")).toThrow("has a heading for 0.1.0 already");
  expect(() => releaseChangelog("## Unreleased\n\n## 0.1.0 (x)\n\n- Old.\n", "0.2.0", "")).toThrow(
    "nothing to release",
  );
  expect(() => releaseChangelog(read("CHANGELOG.md"), "99.0.0", "2026-01-01")).not.toThrow();
});

test("a release stops before it changes anything if it cannot be made", () => {
  const folder = mkdtempSync(join(tmpdir(), "rondo-release-"));
  try {
    for (const file of ["scripts/release.ts", "scripts/release-files.ts", "packages/rondo/package.json"]) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      cpSync(join(repoRoot, file), join(folder, file));
    }
    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd: folder });
    const release = (...args: string[]) => {
      try {
        return execFileSync(process.execPath, [join(folder, "scripts/release.ts"), ...args], {
          encoding: "utf8",
          stdio: "pipe",
        });
      } catch (error) {
        return (error as { stderr: string }).stderr;
      }
    };
    git("init", "--quiet");
    git("add", "--all");
    git("commit", "--quiet", "--message", "first");
    expect(release()).toContain("name the version");
    expect(release("next")).toContain("Expected a version such as 1.2.3");
    expect(release("0.0.1")).toContain("is not newer than");
    writeFileSync(join(folder, "new.txt"), "");
    expect(release("99.0.0")).toContain("the working tree has changes");
    expect(String(git("status", "--porcelain"))).toBe("?? new.txt\n");
  } finally {
    rmSync(folder, { recursive: true });
  }
});
