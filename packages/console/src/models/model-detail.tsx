// One model: the facts in effect and where each comes from, its slots, and its checks.

import type { ComponentChildren } from "preact";
import type { ModelFact, ModelInfo } from "../api/inspect-types.ts";
import { linkTo } from "../shell/router.ts";
import { formatNumber } from "../ui/format.ts";
import { ModelChecks } from "./model-checks.tsx";

export function ModelDetail({ model }: { readonly model: ModelInfo }) {
  const { id, kind, endpoint, context_window: contextWindow, slots, profile } = model;
  return (
    <>
      <section>
        <div class="row">
          <h2 class="mono grow model-title">{id}</h2>
          <a class="button" href={linkTo("chat", [], { model: id })}>
            Chat with it
          </a>
        </div>
        <dl class="model-figures">
          <Figure title="Model server" value={endpoint ?? "this process"} detail={kind ?? undefined} />
          <Figure
            title="Context"
            value={contextWindow === null ? "unknown" : `${formatNumber(contextWindow)} tokens`}
          />
          {slots && (
            <Figure
              title="Slots in use"
              value={slots.limit === null ? `${slots.taken}` : `${slots.taken} of ${slots.limit}`}
              detail={slots.waiting > 0 ? `${slots.waiting} waiting` : undefined}
            >
              {slots.limit !== null && (
                <meter aria-label="Slots in use" min={0} max={Math.max(1, slots.limit)} value={slots.taken} />
              )}
            </Figure>
          )}
        </dl>
      </section>
      <section>
        <h3>Does it work?</h3>
        <ModelChecks model={id} />
      </section>
      <section>
        <h3>Profile in effect</h3>
        <Facts facts={profile} />
      </section>
    </>
  );
}

interface FigureProps {
  readonly title: string;
  readonly value: string;
  readonly detail?: string | undefined;
  readonly children?: ComponentChildren;
}

function Figure({ title, value, detail, children }: FigureProps) {
  return (
    <div class="card">
      <dt class="soft">{title}</dt>
      <dd>
        <span class="model-figure number">{value}</span>{" "}
        {detail !== undefined && <span class="soft">{detail}</span>}
        {children}
      </dd>
    </div>
  );
}

function Facts({ facts }: { readonly facts: readonly ModelFact[] }) {
  if (facts.length === 0) return <p class="soft">Nothing is known of it: defaults are in effect.</p>;
  return (
    <div class="card model-facts">
      <table>
        <thead>
          <tr>
            <th scope="col">Fact</th>
            <th scope="col">Value</th>
            <th scope="col">From</th>
          </tr>
        </thead>
        <tbody>
          {facts.map(({ name, value, from }) => (
            <tr key={name}>
              <th scope="row">
                <code>{name}</code>
              </th>
              <td>{typeof value === "string" ? value : JSON.stringify(value)}</td>
              <td>
                <span class={`badge ${from === "default" ? "" : "busy"}`}>{from}</span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
