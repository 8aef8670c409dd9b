// `npm run release -- 1.2.3`: everything of a release but the upload. Changes files and commits nothing, so that
// `git diff` shows it all and `git checkout .` undoes it. docs/releasing.md has the steps.
import { execFileSync, spawnSync } from "node:child_process";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  compareVersions,
  parseVersion,
  releaseChangelog,
  versionedFiles,
  withVersion,
} from "./release-files.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const path = (file: string) => join(root, file);
const git = (...args: string[]) => execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();

try {
  release(process.argv[2]);
} catch (error) {
  console.error(`\nNot released: ${(error as Error).message}`);
  process.exitCode = 1;
}

function release(version: string | undefined): void {
  if (version === undefined) throw new Error("name the version: npm run release -- 1.2.3");
  parseVersion(version);
  const current = (
    JSON.parse(readFileSync(path("packages/rondo/package.json"), "utf8")) as { version: string }
  ).version;
  const isTagged = git("tag", "--list", `v${current}`) !== "";
  // The first release has the version that the packages have from the beginning.
  if (compareVersions(version, current) < (isTagged ? 1 : 0))
    throw new Error(`${version} is not newer than ${current}.`);
  if (git("status", "--porcelain") !== "")
    throw new Error("the working tree has changes. Commit or remove them first.");

  const today = new Date().toISOString().slice(0, 10);
  const changelog = releaseChangelog(readFileSync(path("CHANGELOG.md"), "utf8"), version, today);
  writeFileSync(path("CHANGELOG.md"), changelog);
  for (const file of versionedFiles)
    writeFileSync(path(file), withVersion(readFileSync(path(file), "utf8"), current, version));
  run("npm", "install", "--package-lock-only", "--ignore-scripts");

  run("npm", "run", "check"); // build, pack, publint, attw, sizes, and the packages in an outside project
  run("npm", "test");
  run("npm", "run", "test:long");
  run("npm", "run", "pack");
  console.log(nextSteps(version));
}

function run(command: string, ...args: string[]): void {
  console.log(`\n$ ${command} ${args.join(" ")}`);
  const { status } = spawnSync(command, args, {
    cwd: root,
    stdio: "inherit",
    shell: process.platform === "win32",
  });
  if (status !== 0)
    throw new Error(`\`${command} ${args.join(" ")}\` failed. \`git checkout .\` undoes the changes.`);
}

function nextSteps(version: string): string {
  // The library first: the server depends on it.
  const tarballs = globSync("tarballs/*.tgz", { cwd: root }).toSorted((a, b) => a.length - b.length);
  const { repository } = JSON.parse(readFileSync(path("packages/rondo/package.json"), "utf8")) as {
    repository: { url: string };
  };
  const remote = spawnSync("git", ["remote", "get-url", "origin"], {
    cwd: root,
    encoding: "utf8",
  }).stdout.trim();
  const isHome = repository.url.replace(/^git\+/, "") === remote;
  const warning = isHome
    ? ""
    : `\nThe packages name ${repository.url} as their repository, but this clone comes from ${remote || "nowhere"}.\nCorrect repository, homepage and bugs of both packages first, unless that is where it will be.\n`;
  return `
${version} is ready, and nothing was uploaded. Look at it with \`git diff\`, then:
${warning}
  git commit --all --message "release: ${version}" && git tag v${version}
${tarballs.map((tarball) => `  npm publish ${tarball}`).join("\n")}
  git push origin main v${version}
`;
}
