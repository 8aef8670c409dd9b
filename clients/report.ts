// The results of all trials as a table.

import type { Outcome } from "./trial.ts";

/** Markdown. `versions` are those of the packages. */
export function report(outcomes: readonly Outcome[], versions: Readonly<Record<string, string>>): string {
  const rows = outcomes.map((outcome) => {
    const { client, api, makesFile, hasThreeTurns, remembered, problem } = outcome;
    const cells = [
      client.name,
      `\`${client.package}\` ${versions[client.package] ?? ""}`,
      api,
      sign(makesFile),
      sign(hasThreeTurns),
      remembered === undefined ? "–" : remembered === 3 ? "yes" : `${remembered} of 3`,
      problem?.replaceAll("|", "\\|").replaceAll(/\s+/g, " ") ?? "",
    ];
    return `| ${cells.join(" | ")} |`;
  });
  return [
    "| client | version | API | its shell makes a file | three turns | results of server tools over three turns | problem |",
    "|---|---|---|---|---|---|---|",
    ...rows,
  ].join("\n");
}

function sign(isDone: boolean): string {
  return isDone ? "yes" : "**no**";
}
