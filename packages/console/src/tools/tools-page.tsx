// The tools that a model can call here, where they come from, and a form to try one.

import { useSignal } from "@preact/signals";
import { get } from "../api/api.ts";
import type { ToolInfo, ToolList, ToolServer } from "../api/inspect-types.ts";
import { useLoaded } from "../api/load.ts";
import type { PageProps } from "../shell/page-entry.ts";
import { linkTo } from "../shell/router.ts";
import { useTitle } from "../shell/title.ts";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { PageFrame } from "../ui/page.tsx";
import { SearchList } from "../ui/search-list.tsx";
import { Split } from "../ui/split.tsx";
import { ToolDetail } from "./tool-detail.tsx";
import "./tools.css";

/** MCP servers come and go. */
const everyMs = 5_000;

export function ToolsPage({ place }: PageProps) {
  const { value, error, reload } = useLoaded((signal) => get<ToolList>("v1/tools", { signal }), [], {
    everyMs,
  });
  const search = useSignal("");
  useTitle(place.rest[0] ?? "");
  const list = value.value;
  if (!list)
    return (
      <PageFrame title="Tools">
        {error.value && (
          <ErrorNotice title="The tools cannot be listed." message={error.value.message} onRetry={reload} />
        )}
      </PageFrame>
    );
  if (list.data.length === 0 && list.servers.length === 0)
    return (
      <PageFrame title="Tools">
        <NoTools />
      </PageFrame>
    );
  const [name] = place.rest;
  const server = place.query.get("server");
  const chosen = list.data.find((tool) => tool.name === name && serverOf(tool) === server);
  const shown = chosen ?? (name === undefined ? list.data[0] : undefined);
  const found = list.data.filter((tool) => fits(tool, search.value));
  return (
    <PageFrame title="Tools">
      <Split
        label="Tools"
        isChosen={name !== undefined}
        listLink={linkTo("tools")}
        list={
          <SearchList name="tools" search={search} none={found.length === 0 ? "No tool fits." : undefined}>
            {groupsOf(list, found).map((group) => (
              <ToolGroup key={group.key} group={group} shown={shown} />
            ))}
          </SearchList>
        }
      >
        {shown ? (
          <ToolDetail key={linkToTool(shown)} tool={shown} />
        ) : (
          <p class="notice">
            {name === undefined ? "There is no tool yet." : "There is no such tool, or its server is away."}
          </p>
        )}
      </Split>
    </PageFrame>
  );
}

interface Group {
  readonly key: string;
  readonly title: string;
  readonly server: ToolServer | undefined;
  readonly tools: readonly ToolInfo[];
}

/** One group for each kind, and one for each MCP server, also if it has no tools. */
function groupsOf({ servers }: ToolList, tools: readonly ToolInfo[]): Group[] {
  const local = tools.filter(({ kind }) => kind === "local");
  const sandbox = tools.filter(({ kind }) => kind === "sandbox");
  return [
    ...(local.length > 0 ? [{ key: "local", title: "Local", server: undefined, tools: local }] : []),
    ...(sandbox.length > 0 ? [{ key: "sandbox", title: "Sandbox", server: undefined, tools: sandbox }] : []),
    ...servers.map((server) => ({
      key: `mcp ${server.label}`,
      title: server.label,
      server,
      tools: tools.filter((tool) => tool.kind === "mcp" && tool.server_label === server.label),
    })),
  ];
}

function ToolGroup({ group, shown }: { readonly group: Group; readonly shown: ToolInfo | undefined }) {
  const { title, server, tools } = group;
  return (
    <section>
      <h2>
        <span class="grow">{title}</span>
        {server && <ServerBadge server={server} />}
      </h2>
      {server?.error && <p class="tool-server-error">{server.error}</p>}
      <ul>
        {tools.map((tool) => (
          <li key={tool.name}>
            <a href={linkToTool(tool)} aria-current={tool === shown ? "true" : undefined}>
              <span class="mono one-line tool-name">{tool.name}</span>
              {tool.description && <span class="soft one-line tool-about">{tool.description}</span>}
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

const serverLooks = { connected: "good", connecting: "busy", failed: "bad", idle: "" } as const;

function ServerBadge({ server: { state } }: { readonly server: ToolServer }) {
  return <span class={`badge ${serverLooks[state] ?? ""}`}>{state}</span>;
}

function linkToTool(tool: ToolInfo): string {
  const server = serverOf(tool);
  return linkTo("tools", [tool.name], server === null ? undefined : { server });
}

/** The MCP server that has it: several may have tools of one name. */
function serverOf({ kind, server_label: label }: ToolInfo): string | null {
  return kind === "mcp" ? label : null;
}

function fits({ name, description }: ToolInfo, text: string): boolean {
  return `${name} ${description ?? ""}`.toLowerCase().includes(text.trim().toLowerCase());
}

function NoTools() {
  return (
    <div class="empty">
      <h2>This server has no tools yet</h2>
      <p>
        Name local tools or MCP servers in <code>rondo.config.ts</code>, under <code>tools</code> or{" "}
        <code>mcp</code>, and start the server again. <code>rondo init</code> writes a config with a tool.
      </p>
    </div>
  );
}
