// The API reference: one page of Markdown per entry of the packages, made by TypeDoc from the types and their comments.
// TypeDoc's own Markdown has a heading for each parameter; here a member is one row, so that changes can be reviewed.
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  Application,
  type Comment,
  type DeclarationReflection,
  type ProjectReflection,
  ReferenceReflection,
  ReflectionKind,
  ReflectionType,
  type SignatureReflection,
  type SomeType,
} from "typedoc";

const root = fileURLToPath(new URL("..", import.meta.url));

interface Entry {
  /** What is imported. */
  readonly name: string;
  readonly source: string;
}

const entries: readonly Entry[] = [
  { name: "rondo", source: "packages/rondo/src/index.ts" },
  { name: "rondo/loop", source: "packages/rondo/src/loop.ts" },
  { name: "rondo/models", source: "packages/rondo/src/models.ts" },
  { name: "rondo/budget", source: "packages/rondo/src/budget.ts" },
  { name: "rondo/sessions", source: "packages/rondo/src/sessions.ts" },
  { name: "rondo/errors", source: "packages/rondo/src/errors.ts" },
  { name: "rondo/mcp", source: "packages/rondo/src/mcp/index.ts" },
  { name: "rondo/otel", source: "packages/rondo/src/otel/index.ts" },
  { name: "rondo/private-address", source: "packages/rondo/src/sandbox/network/private-address.ts" },
  { name: "rondo/sandbox", source: "packages/rondo/src/sandbox/index.ts" },
  { name: "rondo/sandbox-suite", source: "packages/rondo/src/sandbox/testing/sandbox-suite.ts" },
  { name: "rondo/testing", source: "packages/rondo/src/testing/index.ts" },
  { name: "rondo/demo", source: "packages/rondo/src/demo/index.ts" },
  { name: "@rondo/server", source: "packages/server/src/index.ts" },
  { name: "@rondo/server/store-suite", source: "packages/server/src/store/testing/store-suite.ts" },
];

/** Longer object types are shortened. */
const maxLiteral = 300;

const groups: readonly [string, ReflectionKind][] = [
  ["Functions", ReflectionKind.Function],
  ["Classes", ReflectionKind.Class],
  ["Interfaces", ReflectionKind.Interface],
  ["Types", ReflectionKind.TypeAlias],
  ["Values", ReflectionKind.Variable],
];

/** The pages by their paths below docs/api. */
export async function apiReference(): Promise<Map<string, string>> {
  const project = await readProject();
  const pages = new Map([["README.md", indexPage()]]);
  for (const entry of entries) pages.set(pageOf(entry.name), entryPage(entry, project));
  return pages;
}

async function readProject(): Promise<ProjectReflection> {
  const app = await Application.bootstrap({
    entryPoints: entries.map(({ source }) => join(root, source)),
    tsconfig: join(root, "tsconfig.dev.json"),
    excludePrivate: true,
    excludeProtected: true,
    excludeInternal: true,
    excludeExternals: true,
    // The build checks the types.
    skipErrorChecking: true,
    logLevel: "Error",
    readme: "none",
    sort: ["alphabetical-ignoring-documents"],
  });
  const project = await app.convert();
  if (project === undefined) throw new Error("TypeDoc could not read the sources; see its messages above.");
  return project;
}

function pageOf(name: string): string {
  return `${name.replace("@", "").replaceAll("/", "-")}.md`;
}

const generated = "<!-- Written by `npm run docs` from the types and their comments. -->";

function indexPage(): string {
  const rows = entries.map(({ name }) => `- [\`${name}\`](${pageOf(name)})`);
  return `# API reference\n\n${generated}\n\nEvery export of the packages, by the entry to import it from. The [guides](../README.md) explain how they fit together.\n\n${rows.join("\n")}\n`;
}

function entryPage({ name, source }: Entry, project: ProjectReflection): string {
  const module = project.children?.find(({ sources }) => sources?.[0]?.fullFileName.endsWith(source));
  if (module === undefined) throw new Error(`TypeDoc has nothing about ${source}.`);
  const all = module.children ?? [];
  const parts = groups.flatMap(([title, kind]) => {
    const own = all.filter((it) => it.kind === kind);
    return own.length === 0 ? [] : [`## ${title}`, ...own.map(describe)];
  });
  const others = all.filter((it) => it instanceof ReferenceReflection).map((it) => referenceRow(it));
  const more = others.length === 0 ? [] : [`## Also exported\n\n${others.join("\n")}`];
  return `${[`# ${name}`, generated, ...parts, ...more].join("\n\n")}\n`;
}

/** A name that another entry exports too. */
function referenceRow(it: ReferenceReflection): string {
  const target = it.getTargetReflectionDeep();
  const module = target.parent as DeclarationReflection | undefined;
  const file = module?.sources?.[0]?.fullFileName ?? "";
  const entry = entries.find(({ source }) => file.endsWith(source));
  return `- \`${it.name}\`${entry ? `, see [\`${entry.name}\`](${pageOf(entry.name)})` : ""}`;
}

function describe(it: DeclarationReflection): string {
  const heading = `### ${it.name}`;
  const { signatures } = it;
  if (signatures) {
    const shown = signatures.map((signature) => `\`\`\`text\n${signatureText(it.name, signature)}\n\`\`\``);
    return [heading, textOf(signatures[0]?.comment), ...shown].filter(Boolean).join("\n\n");
  }
  const head = declarationHead(it);
  const rows = (it.children ?? typeLiteralOf(it.type)?.children ?? []).flatMap(memberRows);
  const table = rows.length === 0 ? "" : ["| member | about |", "|---|---|", ...rows].join("\n");
  return [heading, textOf(it.comment), head && `\`\`\`text\n${head}\n\`\`\``, table]
    .filter(Boolean)
    .join("\n\n");
}

/** The declaration without its members. */
function declarationHead(it: DeclarationReflection): string {
  const generics = typeParameters(it.typeParameters);
  if (it.kind === ReflectionKind.TypeAlias) {
    if ((typeLiteralOf(it.type)?.children?.length ?? 0) > 0) return "";
    return `type ${it.name}${generics} =${aliasText(it.type)}`;
  }
  if (it.kind === ReflectionKind.Variable) return `const ${it.name}: ${typeText(it.type)}`;
  const parents = it.extendedTypes?.map((type) => typeText(type)).join(", ");
  const keyword = it.kind === ReflectionKind.Class ? "class" : "interface";
  if (!generics && !parents) return "";
  return `${keyword} ${it.name}${generics}${parents ? ` extends ${parents}` : ""}`;
}

/** A long union has a line for each of its types. */
function aliasText(type: SomeType | undefined): string {
  const text = typeText(type);
  if (text.length < 100 || type?.type !== "union") return ` ${text}`;
  return type.types.map((one) => `\n  | ${typeText(one)}`).join("");
}

/** Members that are inherited are on the page of the class that has them. */
function memberRows(member: DeclarationReflection): string[] {
  if (member.inheritedFrom !== undefined || member.name.startsWith("[") || member.name.startsWith("~"))
    return [];
  const isStatic = member.flags.isStatic ? "static " : "";
  const signatures = member.signatures ?? [];
  if (signatures.length > 0)
    return signatures.map((signature) => {
      const isConstructor = member.kind === ReflectionKind.Constructor;
      const name = isConstructor ? `new ${member.parent?.name ?? ""}` : `${isStatic}${member.name}`;
      return row(signatureText(name, signature, isConstructor), signature.comment);
    });
  const { getSignature, setSignature } = member;
  const isReadonly = member.flags.isReadonly || (getSignature !== undefined && setSignature === undefined);
  const optional = member.flags.isOptional ? "?" : "";
  const type = typeText(getSignature?.type ?? member.type);
  const comment = member.comment ?? getSignature?.comment ?? setSignature?.comment;
  return [row(`${isStatic}${isReadonly ? "readonly " : ""}${member.name}${optional}: ${type}`, comment)];
}

function row(code: string, comment: Comment | undefined): string {
  const about = textOf(comment).replaceAll(/\s*\n\s*/g, " ");
  return `| \`${code.replaceAll("|", "\\|")}\` | ${about.replaceAll("|", "\\|")} |`;
}

function signatureText(name: string, signature: SignatureReflection, isConstructor = false): string {
  const result = isConstructor ? "" : `: ${typeText(signature.type)}`;
  return `${name}${typeParameters(signature.typeParameters)}(${parameters(signature)})${result}`;
}

function parameters({ parameters: list = [] }: SignatureReflection): string {
  return list
    .map(({ name, type, flags, defaultValue }) => {
      const shown = name === "__namedParameters" ? "options" : name;
      const optional = flags.isOptional || defaultValue !== undefined ? "?" : "";
      return `${flags.isRest ? "..." : ""}${shown}${optional}: ${typeText(type)}`;
    })
    .join(", ");
}

function typeParameters(list: SignatureReflection["typeParameters"]): string {
  if (list === undefined || list.length === 0) return "";
  const names = list.map((it) => `${it.name}${it.type ? ` extends ${typeText(it.type)}` : ""}`);
  return `<${names.join(", ")}>`;
}

function typeLiteralOf(type: SomeType | undefined): DeclarationReflection | undefined {
  return type instanceof ReflectionType ? type.declaration : undefined;
}

function typeText(type: SomeType | undefined): string {
  return type === undefined ? "unknown" : shortened(type.toString());
}

/** Without the members of long object types, such as the whole config, which has a page of its own. */
function shortened(text: string): string {
  let result = "";
  let start = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === "{" && depth++ === 0) {
      result += text.slice(start, at);
      start = at;
    }
    if (text[at] !== "}" || --depth > 0) continue;
    result += at - start > maxLiteral ? "{ … }" : text.slice(start, at + 1);
    start = at + 1;
  }
  return result + text.slice(start);
}

// TypeDoc writes "object" and "function" for types without a name.
ReflectionType.prototype.toString = function (this: ReflectionType): string {
  const { signatures = [], children = [], indexSignatures = [] } = this.declaration;
  const [call] = signatures;
  if (call && children.length === 0) return `((${parameters(call)}) => ${typeText(call.type)})`;
  const members = [
    ...indexSignatures.map((it) => `[${parameters(it)}]: ${typeText(it.type)}`),
    ...children.map((it) => {
      const [method] = it.signatures ?? [];
      const optional = it.flags.isOptional ? "?" : "";
      return method ? signatureText(it.name, method) : `${it.name}${optional}: ${typeText(it.type)}`;
    }),
  ];
  return members.length === 0 ? "{}" : `{ ${members.join("; ")} }`;
};

/** The text of a comment, with its links as code. */
function textOf(comment: Comment | undefined): string {
  return (comment?.summary ?? [])
    .map(({ text }) => text)
    .join("")
    .trim();
}
