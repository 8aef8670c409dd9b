// Secrets that stand in files of their own, as container platforms hand them over.

import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { reasonOf } from "./config-file.ts";
import { type ConfigPath, valueAt } from "./config-path.ts";
import { type Fault, withValue } from "./layers.ts";

const secrets = ["apiKey", "secret", "publicKey"];

/**
 * Reads each file that an `apiKeyFile`, `secretFile` or `publicKeyFile` names, seen from `folder`, into the key
 * without `File`. The values are not checked yet, so anything may be anywhere.
 */
export async function readSecretFiles(
  values: unknown,
  folder: string,
): Promise<{ values: unknown; faults: Fault[] }> {
  const faults: Fault[] = [];
  let filled = values;
  for (const path of holdersIn(values))
    for (const name of secrets) {
      const fileKey = [...path, `${name}File`];
      const file = valueAt(values, fileKey);
      if (typeof file !== "string" || file.trim() === "") continue;
      const fail = (message: string) => faults.push({ path: fileKey, message });
      if (valueAt(values, [...path, name]) !== undefined) {
        fail(`expected only one of ${name} and ${name}File.`);
        continue;
      }
      try {
        const secret = (await readFile(resolve(folder, file), "utf8")).trim();
        if (secret === "") fail(`the file ${file} is empty.`);
        else filled = withValue(filled, [...path, name], secret);
      } catch (error) {
        fail(`the file ${file} cannot be read: ${reasonOf(error)}.`);
      }
    }
  return { values: filled, faults };
}

/** The groups that may name such files. */
function holdersIn(values: unknown): ConfigPath[] {
  const endpoints: unknown = valueAt(values, ["endpoints"]);
  const models: unknown = valueAt(values, ["models"]);
  return [
    ...(Array.isArray(endpoints) ? endpoints.map((_, index) => ["endpoints", index]) : []),
    ...Object.keys(Object(models)).map((name) => ["models", name]),
    ["auth", "jwt"],
  ];
}
