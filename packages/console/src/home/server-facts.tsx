// The facts about the server, in one line of small cards.

import type { ComponentChildren } from "preact";
import type { SystemState } from "../api/types.ts";
import { formatNumber, formatTime } from "../ui/format.ts";

export function ServerFacts({ system }: { readonly system: SystemState }) {
  const { version, node, store, queue, streams, started_at_ms, traces } = system;
  return (
    <dl class="home-facts">
      <Fact name="Version" note={`Node ${node.replace(/^v/, "")}`}>
        {version}
      </Fact>
      <Fact name="Store" note={`traces: ${traces}`}>
        {store.label}
      </Fact>
      <Fact name="Queue" note={queue ? `${formatNumber(queue.queued)} waiting` : "the store does not answer"}>
        {queue ? `${formatNumber(queue.running)} running` : "unknown"}
      </Fact>
      <Fact name="Streams" note={`up since ${formatTime(started_at_ms)}`}>
        {formatNumber(streams)} open
      </Fact>
    </dl>
  );
}

interface FactProps {
  readonly name: string;
  readonly note: string;
  readonly children: ComponentChildren;
}

function Fact({ name, note, children }: FactProps) {
  return (
    <div class="card">
      <dt class="soft">{name}</dt>
      <dd class="home-fact">{children}</dd>
      <dd class="soft home-note">{note}</dd>
    </div>
  );
}
