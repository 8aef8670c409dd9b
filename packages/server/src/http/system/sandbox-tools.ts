// The tools of the sandbox as the console lists them. A model calls them, in a container of its run.

import type { SandboxHost } from "../../executor/sandbox/sandbox-host.ts";
import type { ToolListReply } from "../../protocol/system.ts";

const common = { kind: "sandbox", server_label: null, requires_approval: false, is_offered: false } as const;

const tools: ToolListReply["data"] = [
  {
    ...common,
    name: "code_interpreter",
    description: "Runs code in a sandbox.",
    input_schema: { type: "object", properties: { code: { type: "string" } }, required: ["code"] },
  },
  {
    ...common,
    name: "shell",
    description: "Runs commands in a container of the sandbox.",
    input_schema: {
      type: "object",
      properties: { commands: { type: "array", items: { type: "string" } } },
      required: ["commands"],
    },
  },
];

/** Those that this owner may use. A sandbox that was not tried yet counts as one that works. */
export function sandboxTools(
  host: Pick<SandboxHost, "known" | "allows" | "settings">,
  owner: string,
): ToolListReply["data"] {
  const mayWork = host.settings.kind !== "none" && host.known?.isOn !== false;
  return mayWork && host.allows(owner) ? tools : [];
}
