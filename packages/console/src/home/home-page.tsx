// The first thing that a person sees: is it up, which models answer, and what to do next.

import { get } from "../api/api.ts";
import { useLoaded } from "../api/load.ts";
import type { SystemState } from "../api/types.ts";
import { linkTo } from "../shell/router.ts";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { Icon } from "../ui/icon.tsx";
import { Endpoints } from "./endpoints.tsx";
import "./home.css";
import { ServerFacts } from "./server-facts.tsx";
import { Welcome } from "./welcome.tsx";
import { WhatToTry } from "./what-to-try.tsx";

const everyMs = 5_000;

export function HomePage() {
  const { value, error, reload } = useLoaded((signal) => get<SystemState>("v1/system", { signal }), [], {
    everyMs,
  });
  const system = value.value;
  return (
    <div class="page home">
      {error.value && !system && (
        <ErrorNotice
          title="The state of the server could not be loaded."
          message={error.value.message}
          onRetry={reload}
        />
      )}
      {system ? <Loaded system={system} /> : <h1 class="visually-hidden">Home</h1>}
    </div>
  );
}

function Loaded({ system }: { readonly system: SystemState }) {
  return (
    <>
      <Welcome system={system} />
      <ServerFacts system={system} />
      <div class="home-columns">
        <section class="stack" aria-labelledby="try-title">
          <h2 id="try-title">Use it from your code</h2>
          <WhatToTry system={system} />
        </section>
        <div class="stack">
          <section class="stack" aria-labelledby="endpoints-title">
            <h2 id="endpoints-title">Model servers</h2>
            <Endpoints endpoints={system.endpoints} />
          </section>
          <nav class="stack" aria-label="Look further">
            <h2>Look further</h2>
            <ul class="home-links">
              <Further page="runs" icon="runs" title="Runs" text="What happened, when, and what it cost." />
              <Further
                page="tools"
                icon="tools"
                title="Tools"
                text="What models can call. Try one by hand."
              />
              <Further page="models" icon="models" title="Models" text="Check how well each one works." />
              <Further page="reference" icon="reference" title="API" text="Every route, with its fields." />
            </ul>
          </nav>
        </div>
      </div>
    </>
  );
}

interface FurtherProps {
  readonly page: string;
  readonly icon: "runs" | "tools" | "models" | "reference";
  readonly title: string;
  readonly text: string;
}

function Further({ page, icon, title, text }: FurtherProps) {
  return (
    <li>
      <a href={linkTo(page)}>
        <Icon name={icon} />
        <span>
          <strong>{title}</strong>
          <span class="soft">{text}</span>
        </span>
      </a>
    </li>
  );
}
