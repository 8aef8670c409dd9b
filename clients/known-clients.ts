// The clients, and how each is set up: without telemetry and updates, with all of its tools allowed.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Client, Place } from "./client.ts";

const model = "scripted";

const codex: Client = {
  name: "Codex",
  package: "@openai/codex",
  apis: ["Responses", "Responses over WebSocket"],
  program: ".bin/codex",
  files: ({ url, api }) => ({
    ".codex/config.toml": [
      `model = "${model}"`,
      'model_provider = "rondo"',
      "model_context_window = 32768",
      'web_search = "disabled"',
      "check_for_update_on_startup = false",
      "[analytics]",
      "enabled = false",
      "[model_providers.rondo]",
      'name = "Rondo"',
      `base_url = "${url}"`,
      'wire_api = "responses"',
      `supports_websockets = ${api === "Responses over WebSocket"}`,
      "request_max_retries = 0",
      "stream_max_retries = 0",
    ].join("\n"),
  }),
  args: (prompt, isFirst) => [
    "exec",
    "--dangerously-bypass-approvals-and-sandbox",
    "--skip-git-repo-check",
    ...(isFirst ? [] : ["resume", "--last"]),
    prompt,
  ],
};

const opencode: Client = {
  name: "opencode",
  package: "opencode-ai",
  apis: ["Responses", "chat completions"],
  // Its launcher needs an install script; the program itself does not.
  program: `opencode-${process.platform}-${process.arch}/bin/opencode`,
  files: ({ url, api }) => ({
    ".config/opencode/opencode.json": JSON.stringify({
      autoupdate: false,
      share: "disabled",
      provider: {
        rondo: {
          npm: api === "Responses" ? "@ai-sdk/openai" : "@ai-sdk/openai-compatible",
          name: "Rondo",
          options: { baseURL: url, apiKey: "none" },
          models: {
            [model]: {
              name: model,
              tool_call: true,
              reasoning: true,
              limit: { context: 100_000, output: 10_000 },
            },
          },
        },
      },
      model: `rondo/${model}`,
      small_model: `rondo/${model}`,
    }),
  }),
  env: () => ({ OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" }),
  args: (prompt, isFirst) => ["run", "--auto", ...(isFirst ? [] : ["--continue"]), prompt],
};

const copilot: Client = {
  name: "Copilot CLI",
  package: "@github/copilot",
  apis: ["Responses", "Responses over WebSocket", "chat completions"],
  program: ".bin/copilot",
  env: ({ url, api }) => ({
    COPILOT_OFFLINE: "true",
    COPILOT_MODEL: model,
    COPILOT_PROVIDER_BASE_URL: url,
    COPILOT_PROVIDER_API_KEY: "none",
    COPILOT_PROVIDER_WIRE_API: api === "chat completions" ? "completions" : "responses",
    COPILOT_PROVIDER_TRANSPORT: api === "Responses over WebSocket" ? "websockets" : "http",
  }),
  // In one process: a resumed session does not send thoughts back.
  isAcp: true,
  args: () => [
    "--acp",
    "--no-auto-update",
    "--allow-all",
    "--disable-builtin-mcps",
    "--disable-client-telemetry",
  ],
};

const qwen: Client = {
  name: "Qwen Code",
  package: "@qwen-code/qwen-code",
  apis: ["chat completions"],
  program: ".bin/qwen",
  files: () => ({
    ".qwen/settings.json": JSON.stringify({
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
      general: { enableAutoUpdate: false, disableAutoUpdate: true },
    }),
  }),
  args: (prompt, isFirst, { url }) => [
    "--auth-type=openai",
    "--openai-api-key=none",
    `--openai-base-url=${url}`,
    `--model=${model}`,
    "--yolo",
    ...(isFirst ? [] : ["--continue"]),
    prompt,
  ],
};

const continueCli: Client = {
  name: "Continue CLI",
  package: "@continuedev/cli",
  apis: ["chat completions"],
  program: ".bin/cn",
  files: ({ url }) => ({
    "config.yaml": [
      "name: rondo",
      "version: 1.0.0",
      "schema: v1",
      "models:",
      `  - name: ${model}`,
      "    provider: openai",
      `    model: ${model}`,
      `    apiBase: ${url}`,
      "    apiKey: none",
      "    capabilities: [tool_use]",
      "    roles: [chat]",
    ].join("\n"),
  }),
  env: () => ({ CONTINUE_TELEMETRY_ENABLED: "0", CONTINUE_ALLOW_ANONYMOUS_TELEMETRY: "0" }),
  args: (prompt, isFirst, { home }) => [
    "--config",
    join(home, "config.yaml"),
    "--auto",
    "--print",
    ...(isFirst ? [] : ["--resume"]),
    prompt,
  ],
};

const cline: Client = {
  name: "Cline",
  package: "cline",
  apis: ["chat completions"],
  program: ".bin/cline",
  files: clineFiles,
  env: () => ({ CLINE_TELEMETRY_DISABLED: "1", POSTHOG_TELEMETRY_ENABLED: "false" }),
  // It resumes a session only in a terminal, and over ACP it accepts only its own logins: one turn is all it does here.
  args: (prompt, isFirst, { home }) => [
    "--json",
    "--provider=openai-compatible",
    `--model=${model}`,
    "--key=none",
    ...(isFirst ? [] : ["--id", newestIn(join(home, ".cline/data/sessions"))]),
    prompt,
  ],
};

function clineFiles({ url }: Place): Record<string, string> {
  const settings = { provider: "openai-compatible", apiKey: "none", model, baseUrl: url };
  return {
    ".cline/data/settings/providers.json": JSON.stringify({
      version: 1,
      lastUsedProvider: "openai-compatible",
      providers: {
        "openai-compatible": { settings, updatedAt: "2026-01-01T00:00:00.000Z", tokenSource: "manual" },
      },
    }),
  };
}

export const knownClients: readonly Client[] = [codex, opencode, copilot, qwen, continueCli, cline];

function newestIn(folder: string): string {
  return readdirSync(folder).toSorted().at(-1) ?? "";
}
