// What the model reads about the tools of the sandbox. It stays the same in a conversation as long as the request does:
// the beginning of a prompt that changes costs a cache.

import { dataFolder } from "./container-files.ts";
import type { ContainersOptions } from "./containers.ts";

const maxFiles = 50;

type Described = Pick<ContainersOptions, "language" | "limits" | "allow">;

export function describeCode(
  options: Described,
  packages: readonly string[],
  files: readonly string[],
): string {
  const language = options.language === "python" ? "Python" : "JavaScript (Node.js)";
  return [
    `Runs ${language} code in a sandbox, and gives what it prints, the value of its last expression${options.language === "python" ? ", and its figures" : ""}.`,
    `Variables and files in ${dataFolder} stay between calls.`,
    ...common(options, packages, files),
  ].join(" ");
}

export function describeShell(
  options: Described,
  packages: readonly string[],
  files: readonly string[],
): string {
  return [
    "Runs shell commands in a sandbox, one after the other, and gives the output and exit code of each.",
    `Files in ${dataFolder}, the working directory, stay between calls.`,
    ...common(options, packages, files),
  ].join(" ");
}

function common(
  { limits, allow }: Described,
  packages: readonly string[],
  files: readonly string[],
): readonly string[] {
  const names = files.slice(0, maxFiles).map((path) => `${dataFolder}/${path}`);
  return [
    allow.length === 0 ? "There is no network." : `The network reaches ${allow.join(", ")} only.`,
    `A call may take ${Math.round(limits.timeoutMs / 1000)} seconds.`,
    ...(packages.length > 0 ? [`Installed: ${packages.join(", ")}.`] : []),
    ...(names.length > 0 ? [`The user's files: ${names.join(", ")}.`] : []),
    `Save files for the user in ${dataFolder}, and name them in your answer as links to sandbox:${dataFolder}/NAME.`,
  ];
}
