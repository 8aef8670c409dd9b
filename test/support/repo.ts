import { fileURLToPath } from "node:url";

/** Absolute path of the repository, without a slash at the end. */
export const repoRoot = fileURLToPath(new URL("../..", import.meta.url)).replace(/[\\/]$/, "");
