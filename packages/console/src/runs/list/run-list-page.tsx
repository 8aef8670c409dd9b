// The page of all runs: filters, and a live table.

import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { reconnects } from "../../api/connection.ts";
import { key } from "../../api/key.ts";
import { goTo, linkTo, type Place, replacePlace } from "../../shell/router.ts";
import { ErrorNotice } from "../../ui/error-notice.tsx";
import { PageFrame } from "../../ui/page.tsx";
import { FilterBar } from "./filter-bar.tsx";
import { type RunFilters, readFilters, toPlaceQuery } from "./filters.ts";
import { RunTable } from "./run-table.tsx";
import { listFor } from "./shown-list.ts";
import "./list.css";

export function RunListPage({ place }: { readonly place: Place }) {
  const filters = readFilters(place.query);
  const query = new URLSearchParams(toPlaceQuery(filters)).toString();
  const at = place.query.get("at") ?? undefined;
  const list = useMemo(() => listFor(filters), [query, key.value]);
  useEffect(() => list.show(at), [list, reconnects.value]);
  const isMore = useSignal(false);
  const change = (changed: Partial<RunFilters>) =>
    replacePlace(linkTo("runs", [], toPlaceQuery({ ...filters, ...changed })));
  const { rows } = list.window.value;
  const hasFilters = query !== "";
  return (
    <div class="fills">
      <PageFrame title="Runs">
        <FilterBar filters={filters} onChange={change} isOpen={isMore} />
        {list.error.value && rows.length === 0 ? (
          <ErrorNotice
            title="The runs could not be loaded."
            message={list.error.value.message}
            onRetry={() => void list.reload()}
          />
        ) : rows.length === 0 && list.isLoaded.value && !list.window.value.hasOlder ? (
          <NoRuns hasFilters={hasFilters} />
        ) : (
          <RunTable
            list={list}
            onOpen={(id) => goTo(linkTo("runs", [id]))}
            onPlace={(id) =>
              replacePlace(
                linkTo("runs", [], { ...toPlaceQuery(filters), ...(id !== undefined && { at: id }) }),
              )
            }
          />
        )}
      </PageFrame>
    </div>
  );
}

function NoRuns({ hasFilters }: { readonly hasFilters: boolean }) {
  return hasFilters ? (
    <div class="empty">
      <p>No run matches these filters.</p>
      <a class="button" href={linkTo("runs")}>
        Show all runs
      </a>
    </div>
  ) : (
    <div class="empty">
      <h2>There are no runs yet.</h2>
      <p>
        Each request to <code>POST /v1/responses</code> becomes one, unless it has <code>store: false</code>.
      </p>
      <a class="button primary" href={linkTo("chat")}>
        Start a chat
      </a>
    </div>
  );
}
