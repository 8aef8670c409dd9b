// The API's reference, from the server's own OpenAPI document.

import { useSignal } from "@preact/signals";
import { get } from "../api/api.ts";
import { useLoaded } from "../api/load.ts";
import type { PageProps } from "../shell/page-entry.ts";
import { linkTo } from "../shell/router.ts";
import { useTitle } from "../shell/title.ts";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { PageFrame } from "../ui/page.tsx";
import { SearchList } from "../ui/search-list.tsx";
import { Split } from "../ui/split.tsx";
import { OperationDetail } from "./operation-detail.tsx";
import { fitsSearch, groupOperations, type Operation, operationsOf } from "./operations.ts";
import "./reference.css";

export function ReferencePage({ place }: PageProps) {
  const { value, error, reload } = useLoaded(loadDocument, []);
  const search = useSignal("");
  useTitle(place.rest[0] ?? "");
  const loaded = value.value;
  if (!loaded)
    return (
      <PageFrame title="API">
        {error.value && (
          <ErrorNotice
            title="The reference cannot be loaded."
            message={error.value.message}
            onRetry={reload}
          />
        )}
      </PageFrame>
    );
  const { document, operations } = loaded;
  const [id] = place.rest;
  const shown =
    operations.find((operation) => operation.id === id) ?? (id === undefined ? operations[0] : undefined);
  const found = operations.filter((operation) => fitsSearch(operation, search.value.trim()));
  return (
    <PageFrame
      title="API"
      actions={
        <a class="button" href="openapi.json" target="_blank" rel="noopener">
          openapi.json
        </a>
      }
    >
      <Split
        label="Operations"
        isChosen={id !== undefined}
        listLink={linkTo("reference")}
        list={
          <SearchList
            name="operations"
            search={search}
            none={found.length === 0 ? "No operation fits." : undefined}
          >
            {groupOperations(found).map(([group, list]) => (
              <section key={group}>
                <h2>{group}</h2>
                <ul>
                  {list.map((operation) => (
                    <OperationLink key={operation.id} operation={operation} isShown={operation === shown} />
                  ))}
                </ul>
              </section>
            ))}
          </SearchList>
        }
      >
        {shown ? (
          <OperationDetail key={shown.id} operation={shown} document={document} />
        ) : (
          <p class="notice">This server has no such operation. Choose another.</p>
        )}
      </Split>
    </PageFrame>
  );
}

async function loadDocument(signal: AbortSignal) {
  const document = await get<unknown>("openapi.json", { signal });
  return { document, operations: operationsOf(document) };
}

interface OperationLinkProps {
  readonly operation: Operation;
  readonly isShown: boolean;
}

function OperationLink({ operation: { id, method, path, summary }, isShown }: OperationLinkProps) {
  return (
    <li>
      <a class="operation-link" href={linkTo("reference", [id])} aria-current={isShown ? "true" : undefined}>
        <span class="operation-line">
          <span class={`method ${method.toLowerCase()}`}>{method}</span>
          <span class="mono operation-path">{path}</span>
        </span>
        <span class="soft one-line operation-about">{summary}</span>
      </a>
    </li>
  );
}
