// The model servers: whether each answers, and its models.

import type { EndpointState } from "../api/types.ts";

const looks = {
  up: ["good", "Answers"],
  down: ["bad", "Does not answer"],
  unknown: ["", "Not asked yet"],
} as const;

/** A model server may have hundreds. */
const shownModels = 12;

export function Endpoints({ endpoints }: { readonly endpoints: readonly EndpointState[] }) {
  if (endpoints.length === 0) return <p class="notice">There is no model server in the config.</p>;
  return (
    <ul class="stack">
      {endpoints.map((endpoint) => (
        <li key={endpoint.name} class="card stack">
          <Endpoint endpoint={endpoint} />
        </li>
      ))}
    </ul>
  );
}

function Endpoint({ endpoint }: { readonly endpoint: EndpointState }) {
  const { name, url, state, error, models } = endpoint;
  const [look, words] = looks[state];
  return (
    <>
      <div class="row">
        <strong class="grow one-line">{name}</strong>
        <span class={`badge ${look}`}>{words}</span>
      </div>
      {url !== undefined && url !== name && <div class="soft mono one-line">{url}</div>}
      {error && <p class="home-problem">{error}</p>}
      {models.length > 0 && (
        <ul class="row">
          {models.slice(0, shownModels).map((model) => (
            <li key={model} class="home-model mono">
              {model}
            </li>
          ))}
          {models.length > shownModels && <li class="soft">and {models.length - shownModels} more</li>}
        </ul>
      )}
    </>
  );
}
