// `#/runs`: the list of runs. `#/runs/ID`: one of them.

import type { PageProps } from "../shell/page-entry.ts";
import { RunListPage } from "./list/run-list-page.tsx";
import { RunPage } from "./run/run-page.tsx";

export function RunsPage({ place }: PageProps) {
  const [id] = place.rest;
  return id === undefined || id === "" ? (
    <RunListPage place={place} />
  ) : (
    <RunPage key={id} id={id} place={place} />
  );
}
