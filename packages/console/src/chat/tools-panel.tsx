// The tools that the model may call in this chat.

import type { ToolInfo, ToolList } from "../api/inspect-types.ts";
import { Popover } from "../ui/popover.tsx";
import { changeSettings, settings } from "./settings.ts";
import { isOn, keyOf } from "./tool-choice.ts";

export function ToolsPanel({ tools }: { readonly tools: ToolList | undefined }) {
  const all = tools?.data ?? [];
  const choices = settings.value.tools;
  const count = all.filter((tool) => isOn(tool, choices)).length;
  const choose = (chosen: readonly ToolInfo[], isChosen: boolean) =>
    changeSettings({
      tools: {
        ...settings.peek().tools,
        ...Object.fromEntries(chosen.map((tool) => [keyOf(tool), isChosen])),
      },
    });
  return (
    <Popover icon="tools" label={all.length === 0 ? "Tools" : `Tools ${count}/${all.length}`}>
      {all.length === 0 ? (
        <p class="soft">
          This server has no tools yet. Add some to <code>tools</code> or <code>mcp</code> in its config.
        </p>
      ) : (
        <>
          <div class="row">
            <strong class="grow">Tools of this chat</strong>
            <button class="button" type="button" onClick={() => choose(all, true)}>
              All
            </button>
            <button class="button" type="button" onClick={() => choose(all, false)}>
              None
            </button>
          </div>
          <ul class="tool-choices">
            {all.map((tool) => (
              <li key={keyOf(tool)}>
                <label>
                  <input
                    type="checkbox"
                    checked={isOn(tool, choices)}
                    onChange={(event) => choose([tool], event.currentTarget.checked)}
                  />
                  <span>
                    <span class="mono">{tool.name}</span>{" "}
                    <span class="soft">{tool.kind === "mcp" ? tool.server_label : ""}</span>
                    <span class="soft tool-choice-description">{tool.description}</span>
                  </span>
                </label>
              </li>
            ))}
          </ul>
        </>
      )}
      {tools?.servers.map(
        ({ label, state, error }) =>
          state === "failed" && (
            <p key={label} class="notice warn">
              The MCP server {label} does not answer{error ? `: ${error}` : "."}
            </p>
          ),
      )}
    </Popover>
  );
}
