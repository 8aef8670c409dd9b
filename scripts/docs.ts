// `npm run docs`: writes the generated pages of docs/.
import { writeFileSync } from "node:fs";
import { configReference } from "../packages/server/src/config/reference.ts";

writeFileSync(new URL("../docs/server-config.md", import.meta.url), configReference());
