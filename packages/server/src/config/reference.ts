// The reference of all settings as Markdown. `npm run docs` writes it to docs/server-config.md.

import { defaultText, type Setting, settings, shortcuts } from "./settings.ts";

/** The whole page. */
export function configReference(): string {
  return `# The server's configuration

<!-- Made from packages/server/src/config/schema.ts. Do not edit: change it there and run \`npm run docs\`. -->

Settings come from a file, the environment and the flags of \`rondo serve\`. A flag wins over the environment,
the environment over the file, and all over the defaults. What is wrong or unknown is an error at the start
that names the key and where it was set.

The file is \`rondo.config.ts\` (or \`.mts\`, \`.js\`, \`.mjs\`), whose default export is the configuration, or
\`rondo.yaml\` (\`rondo.yml\`), in the folder where the server is started; \`--config FILE\` names another. The keys
are the same in both. Only code can bring tools, executors and model providers of its own.

\`\`\`yaml
# rondo.yaml
endpoints:
  - url: http://localhost:11434/v1
models:
  big:
    url: https://gpu.example.org/v1
    model: qwen3:235b
    apiKey: \${GPU_KEY} # a variable of the environment
defaultModel: big
\`\`\`

In YAML, \`\${NAME}\` in any text is replaced by that variable of the environment; \`$\${\` is a plain \`\${\`. A file
named by \`apiKeyFile\`, \`secretFile\` or \`publicKeyFile\` is read once, at the start. An empty variable counts as
not set; lists in variables have commas between their parts.

## Settings

| key | allowed | default | variable | flag | meaning |
|---|---|---|---|---|---|
${settings.map(row).join("\n")}

## Shortcuts

Without any file, these are enough to start: \`rondo serve --model-url http://localhost:11434/v1\`.

| variable | flag | allowed | meaning |
|---|---|---|---|
${shortcuts
  .map(({ env, flag, expected, description }) => line([code(env), code(flag), expected, description]))
  .join("\n")}
`;
}

function row(setting: Setting): string {
  const { key, expected, env, flag, description } = setting;
  const isGroup = expected.startsWith("a group ");
  return line([
    code(key),
    isGroup ? "a group" : expected,
    code(defaultText(setting)),
    code(env),
    code(flag),
    description,
  ]);
}

function line(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

function code(text: string | undefined): string {
  return text === undefined ? "" : `\`${text}\``;
}
