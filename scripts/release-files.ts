// What a release changes in files: the version wherever it is written, and the heading of the changelog.

/** Files that name the version of the packages, from the root of the repository. */
export const versionedFiles = [
  "packages/rondo/package.json",
  "packages/server/package.json",
  "packages/rondo/src/mcp/connection.ts",
  "docs/install.md",
  "docs/cli-doctor.md",
] as const;

/** The version as three numbers. Throws if it is not one. */
export function parseVersion(text: string): readonly [number, number, number] {
  const [, major, minor, patch] = /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})$/.exec(text) ?? [];
  if (patch === undefined) throw new Error(`Expected a version such as 1.2.3, got ${JSON.stringify(text)}.`);
  return [Number(major), Number(minor), Number(patch)];
}

/** Positive if the first version is the newer one. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [parseVersion(a), parseVersion(b)];
  const index = left.findIndex((number, at) => number !== right[at]);
  return index < 0 ? 0 : (left[index] ?? 0) - (right[index] ?? 0);
}

/** The text with another version. Longer versions that contain the old one stay. */
export function withVersion(text: string, from: string, to: string): string {
  const escaped = from.replaceAll(".", "\\.");
  return text.replaceAll(new RegExp(`(?<![\\d.])${escaped}(?!\\.?\\d)`, "g"), to);
}

const unreleased = "## Unreleased\n";

/** The changelog with what is unreleased under the version. Throws if there is nothing, or if the version is there. */
export function releaseChangelog(text: string, version: string, date: string): string {
  if (text.includes(`\n## ${version} `))
    throw new Error(`CHANGELOG.md has a heading for ${version} already.`);
  const [before, after, ...more] = text.split(unreleased);
  if (before === undefined || after === undefined || more.length > 0)
    throw new Error('CHANGELOG.md needs one heading "## Unreleased".');
  const [news = ""] = after.split(/^## /m);
  if (!/^- /m.test(news))
    throw new Error("CHANGELOG.md has nothing under Unreleased: there is nothing to release.");
  return `${before}${unreleased}\n## ${version} (${date})\n${after}`;
}
