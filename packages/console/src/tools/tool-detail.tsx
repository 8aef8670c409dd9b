// One tool: what it does, what it takes, and a form to try it.

import type { ToolInfo } from "../api/inspect-types.ts";
import { CopyButton } from "../ui/copy-button.tsx";
import { SchemaView } from "../ui/schema-view.tsx";
import { TryTool } from "./try-tool.tsx";

export function ToolDetail({ tool }: { readonly tool: ToolInfo }) {
  const { name, kind, server_label: server, description, input_schema: schema } = tool;
  return (
    <>
      <section>
        <div class="row">
          <h2 class="mono tool-title">{name}</h2>
          <span class="badge">{kind === "mcp" ? `MCP: ${server}` : kind}</span>
          {tool.requires_approval && <span class="badge warn">asks for approval</span>}
        </div>
        <p class="tool-description">{description ?? "It has no description: models only see its name."}</p>
      </section>
      <section>
        <h3>Try it</h3>
        {tool.requires_approval && (
          <p class="soft">In a run, a person approves each call. Here you run it yourself, at once.</p>
        )}
        {kind === "sandbox" ? (
          <p class="soft">Only a model can call it, in the container of its run. Ask for it in a chat.</p>
        ) : (
          <TryTool tool={tool} />
        )}
      </section>
      <section>
        <div class="row">
          <h3 class="grow">Arguments</h3>
          <CopyButton label="Copy the schema" text={() => JSON.stringify(schema, null, 2)} />
        </div>
        <div class="card">
          <SchemaView schema={schema} />
        </div>
      </section>
    </>
  );
}
