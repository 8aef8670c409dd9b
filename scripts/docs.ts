// `npm run docs`: writes the generated pages of docs/. With --check, fails if one of them is stale instead.
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { configReference } from "../packages/server/src/config/reference.ts";
import { apiReference } from "./api-reference.ts";

const docs = fileURLToPath(new URL("../docs", import.meta.url));
const isCheck = process.argv.includes("--check");

const pages = new Map([["server-config.md", configReference()]]);
for (const [name, text] of await apiReference()) pages.set(`api/${name}`, text);

const removed = globSync("api/*.md", { cwd: docs }).filter((page) => !pages.has(page.replaceAll("\\", "/")));
const stale = [...pages].filter(([page, text]) => {
  const path = join(docs, page);
  return !existsSync(path) || readFileSync(path, "utf8") !== text;
});

if (isCheck && stale.length + removed.length > 0) {
  const names = [...stale.map(([page]) => page), ...removed];
  console.error(`These pages of docs/ are stale: ${names.join(", ")}. Run \`npm run docs\`.`);
  process.exitCode = 1;
} else if (!isCheck) {
  for (const page of removed) rmSync(join(docs, page));
  for (const [page, text] of stale) {
    mkdirSync(dirname(join(docs, page)), { recursive: true });
    writeFileSync(join(docs, page), text);
  }
}
