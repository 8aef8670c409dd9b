// Writes the pages of docs/ that are made from code, behind `npm run docs`.
import { writeFileSync } from "node:fs";
import { configReference } from "../packages/server/src/config/reference.ts";

writeFileSync(new URL("../docs/server-config.md", import.meta.url), configReference());
