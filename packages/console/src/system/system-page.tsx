// How the server does: small plots of the last quarter of an hour, and the tail of its log.

import { useRef } from "preact/hooks";
import { get } from "../api/api.ts";
import type { SystemSample } from "../api/inspect-types.ts";
import { useLoaded } from "../api/load.ts";
import { serverNow } from "../api/server-clock.ts";
import type { SystemState } from "../api/types.ts";
import type { PageProps } from "../shell/page-entry.ts";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { formatDuration } from "../ui/format.ts";
import { PageFrame } from "../ui/page.tsx";
import { figures, joinSamples } from "./figures.ts";
import { LogTail } from "./log-tail.tsx";
import { Plot } from "./plot.tsx";
import "./system.css";

const everyMs = 2_000;

export function SystemPage({ place }: PageProps) {
  const { samples, error } = useSamples();
  return (
    <PageFrame title="System">
      <div class="stack system">
        <Summary />
        <section class="stack">
          <h2>The last 15 minutes</h2>
          {error && samples.length === 0 && (
            <ErrorNotice title="The figures cannot be loaded." message={error.message} />
          )}
          {samples.length > 0 && (
            <div class="plots">
              {figures.map((figure) => (
                <Plot key={figure.title} figure={figure} samples={samples} />
              ))}
            </div>
          )}
        </section>
        <LogTail place={place} />
      </div>
    </PageFrame>
  );
}

function Summary() {
  const { value } = useLoaded((signal) => get<SystemState>("v1/system", { signal }), [], { everyMs: 10_000 });
  const system = value.value;
  // The line is there from the beginning, so that nothing moves.
  if (!system) return <p class="soft">&nbsp;</p>;
  const upMs = Math.max(serverNow() - system.started_at_ms, 0);
  return (
    <p class="soft">
      Rondo {system.version}, Node {system.node.replace(/^v/, "")}, up for {formatDuration(upMs)}
    </p>
  );
}

/** The samples so far. Only new ones are loaded. */
function useSamples() {
  const known = useRef<readonly SystemSample[]>([]);
  const { value, error } = useLoaded(
    async (signal) => {
      const last = known.current.at(-1)?.at_ms;
      const query = last === undefined ? "" : `?after_ms=${last}`;
      const { data } = await get<{ data: readonly SystemSample[] }>(`v1/system/samples${query}`, { signal });
      known.current = joinSamples(known.current, data);
      return known.current;
    },
    [],
    { everyMs },
  );
  return { samples: value.value ?? [], error: error.value };
}
