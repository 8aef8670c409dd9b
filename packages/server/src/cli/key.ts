// `rondo key`: makes an API key, shows it once, and says what goes into the config.

import { Command, InvalidArgumentError } from "commander";
import { hashKey, newKey } from "../http/auth-keys.ts";
import type { CliIo } from "./cli-io.ts";

export function keyCommand(io: CliIo): Command {
  return new Command("key")
    .description("Make an API key. It is shown once; only its hash goes into the config.")
    .argument("[owner]", "Who uses it, and sees only what was made with it. (default: me)", ownerName)
    .option("--owner <name>", "The same.", ownerName)
    .addHelpText("after", "\nExamples:\n  rondo key\n  rondo key ada")
    .action((name: string | undefined, flags: { owner?: string }, command: Command) => {
      if (name !== undefined && flags.owner !== undefined && name !== flags.owner)
        command.error(`error: a key has one owner, got ${name} and ${flags.owner}.`);
      io.write(describeKey(newKey(), name ?? flags.owner ?? "me"));
    });
}

/** The key and the lines for the config. */
function describeKey(key: string, owner: string): string {
  const hash = hashKey(key);
  return `The key of ${owner}, which is not shown again:

  ${key}

In rondo.yaml (in rondo.config.ts likewise):

  auth:
    keys:
      - owner: ${JSON.stringify(owner)}
        hash: ${hash}

Or in the environment: RONDO_AUTH_KEYS=${owner}=${hash}
Clients send it as \`Authorization: Bearer KEY\`.
`;
}

function ownerName(value: string): string {
  // Safe in YAML, in the environment and in a log line.
  if (/^[\w.@-]{1,100}$/.test(value)) return value;
  throw new InvalidArgumentError("Expected up to 100 letters, digits, or any of _ . @ -");
}
