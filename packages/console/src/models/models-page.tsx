// The models: what is known of each and from where, its slots, and checks whether it works.

import { get } from "../api/api.ts";
import type { ModelInfo, ModelList } from "../api/inspect-types.ts";
import { useLoaded } from "../api/load.ts";
import type { PageProps } from "../shell/page-entry.ts";
import { linkTo } from "../shell/router.ts";
import { useTitle } from "../shell/title.ts";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { PageFrame } from "../ui/page.tsx";
import { Split } from "../ui/split.tsx";
import { ModelDetail } from "./model-detail.tsx";
import "./models.css";

/** For the slots in use. */
const everyMs = 3_000;

export function ModelsPage({ place }: PageProps) {
  const { value, error, reload } = useLoaded((signal) => get<ModelList>("v1/system/models", { signal }), [], {
    everyMs,
  });
  const models = value.value?.data;
  useTitle(place.rest[0] ?? "");
  if (!models)
    return (
      <PageFrame title="Models">
        {error.value && (
          <ErrorNotice title="The models cannot be listed." message={error.value.message} onRetry={reload} />
        )}
      </PageFrame>
    );
  if (models.length === 0)
    return (
      <PageFrame title="Models">
        <NoModels />
      </PageFrame>
    );
  const [id] = place.rest;
  const shown = models.find((model) => model.id === id) ?? (id === undefined ? models[0] : undefined);
  return (
    <PageFrame title="Models">
      <Split
        label="Models"
        isChosen={id !== undefined}
        listLink={linkTo("models")}
        list={groupByEndpoint(models).map(([endpoint, list]) => (
          <section key={endpoint}>
            <h2>{endpoint}</h2>
            <ul>
              {list.map((model) => (
                <li key={model.id}>
                  <a
                    href={linkTo("models", [model.id])}
                    aria-current={model === shown ? "true" : undefined}
                    class="mono model-link"
                  >
                    {model.id}
                  </a>
                </li>
              ))}
            </ul>
          </section>
        ))}
      >
        {shown ? (
          <ModelDetail key={shown.id} model={shown} />
        ) : (
          <p class="notice">No model server has this model now. Choose another, or start it again.</p>
        )}
      </Split>
    </PageFrame>
  );
}

function groupByEndpoint(models: readonly ModelInfo[]): [endpoint: string, models: ModelInfo[]][] {
  const groups = new Map<string, ModelInfo[]>();
  for (const model of models) {
    const endpoint = model.endpoint ?? "This process";
    groups.set(endpoint, [...(groups.get(endpoint) ?? []), model]);
  }
  return [...groups];
}

function NoModels() {
  return (
    <div class="empty">
      <h2>No model answers</h2>
      <p>
        Start a model server (Ollama, LM Studio, llama.cpp, vLLM) on this machine, or name one with{" "}
        <code>RONDO_MODEL_URL</code>. <code>rondo doctor</code> says what it finds.
      </p>
    </div>
  );
}
