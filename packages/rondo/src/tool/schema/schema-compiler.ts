// Compiles a JSON Schema into a graph of checks. Every fault of the schema itself is found here, before any value
// comes: references are resolved once, so that none is dangling or circular.

import { isPlainObject } from "../../error/check.ts";
import { isTooDeep } from "../../json/depth.ts";
import { branch, schemaError } from "./keyword-parts.ts";
import { keywords, keywordsOf } from "./keywords.ts";
import { compilePattern, maxInstructions, type Pattern } from "./pattern.ts";
import type { Evaluated, Place, Validation } from "./validation.ts";

/** The limits of a schema. */
const maxSubschemas = 10_000;
const maxLevels = 200;
/** Every name below an `$id` contains all of it. */
const maxIdLength = 300;

export type Check = (
  value: unknown,
  place: Place | undefined,
  validation: Validation,
  evaluated: Evaluated | undefined,
) => boolean;

export type Draft = 4 | 7 | 2019 | 2020;

/** A compiled schema, and the schemas that it applies to the same value. */
export class SchemaNode {
  readonly checks: Check[] = [];
  readonly inPlace: SchemaNode[] = [];
  readonly path: string;
  /** Whether a keyword here needs to know which parts of the value were evaluated. */
  tracksEvaluated = false;

  constructor(path: string) {
    this.path = path;
  }

  readonly check: Check = (value, place, validation, outer) => {
    validation.enter();
    validation.spend(1 + this.checks.length);
    const evaluated = this.tracksEvaluated ? (outer ?? new Set()) : outer;
    let isValid = true;
    for (const check of this.checks) if (!check(value, place, validation, evaluated)) isValid = false;
    validation.leave();
    return isValid;
  };
}

interface Reference {
  readonly from: SchemaNode;
  readonly ref: string;
  readonly base: string;
}

export class SchemaCompiler {
  readonly draft: Draft;
  readonly #nodes = new Map<object, SchemaNode>();
  readonly #resources = new Map<string, object>();
  readonly #anchors = new Map<string, unknown>();
  readonly #references: Reference[] = [];
  readonly #patterns = new Map<string, Pattern>();
  readonly #room = { left: maxInstructions };
  #count = 0;

  constructor(draft: Draft) {
    this.draft = draft;
  }

  /** Throws an error that says what is wrong with the schema. */
  compile(schema: object): SchemaNode {
    if (isTooDeep(schema, maxLevels))
      throw new Error(`The schema is more than ${maxLevels} levels deep. Nest it less, or use $defs.`);
    const base = "https://schema.invalid/";
    this.#resources.set(base, schema);
    const root = this.node(schema, "schema", base);
    // Resolving one may add others.
    for (const { from, ref, base: within } of this.#references) {
      const target = this.#find(ref, within);
      if (target === undefined) throw new Error(`There is nothing at the $ref ${JSON.stringify(ref)}.`);
      const node = this.node(target.schema, `${from.path}.$ref`, target.base);
      from.inPlace.push(node);
      from.checks.unshift(branch(node)); // before those that ask what was evaluated
    }
    refuseCircles([...this.#nodes.values()]);
    return root;
  }

  node(schema: unknown, path: string, base: string): SchemaNode {
    if (typeof schema === "boolean") return schema ? acceptAll : rejectAll;
    if (!isPlainObject(schema)) throw schemaError(path, "a schema", schema);
    const known = this.#nodes.get(schema);
    if (known) return known;
    this.#count += 1;
    if (this.#count > maxSubschemas)
      throw new Error(`The schema has more than ${maxSubschemas} subschemas. Use fewer.`);
    const node = new SchemaNode(path);
    this.#nodes.set(schema, node);
    const inner = this.#register(schema, base);
    const ref = schema["$ref"] ?? schema["$dynamicRef"] ?? schema["$recursiveRef"];
    if (ref !== undefined) {
      if (typeof ref !== "string") throw schemaError(`${path}.$ref`, "a text", ref);
      this.#references.push({ from: node, ref, base: inner });
    }
    // Keywords beside a $ref count only since draft 2019-09, except definitions.
    const isOnlyRef = ref !== undefined && this.draft < 2019;
    for (const keyword of keywordsOf(schema)) {
      if (isOnlyRef && !keyword.includes("def")) continue;
      const check = keywords.get(keyword)?.({
        argument: schema[keyword],
        schema,
        path: `${path}.${keyword}`,
        compiler: this,
        node,
        inside: (part, where) => this.node(part, where, inner),
        inPlace: (part, where) => {
          const made = this.node(part, where, inner);
          node.inPlace.push(made);
          return made;
        },
      });
      if (check) node.checks.push(check);
    }
    return node;
  }

  pattern(source: unknown, path: string): Pattern {
    if (typeof source !== "string") throw schemaError(path, "a regular expression", source);
    const known = this.#patterns.get(source);
    if (known) return known;
    const made = compilePattern(source, this.#room);
    this.#patterns.set(source, made);
    return made;
  }

  /** Registers the names of a schema, and returns the base of the references in it. */
  #register(schema: Readonly<Record<string, unknown>>, base: string): string {
    const id = schema["$id"] ?? (this.draft === 4 ? schema["id"] : undefined);
    const url = resolveId(id, base);
    let inner = base;
    if (url && url.hash.length > 1) this.#anchors.set(url.href, schema);
    else if (url) {
      url.hash = "";
      inner = url.href;
      if (!this.#resources.has(inner)) this.#resources.set(inner, schema);
    }
    for (const anchor of [schema["$anchor"], schema["$dynamicAnchor"]])
      if (typeof anchor === "string") this.#anchors.set(`${inner}#${anchor}`, schema);
    return inner;
  }

  #find(ref: string, base: string): { schema: unknown; base: string } | undefined {
    const url = ref.startsWith("#") ? undefined : URL.parse(ref, base);
    if (url === null) return undefined;
    const fragment = url ? url.hash.slice(1) : ref.slice(1);
    if (url) url.hash = "";
    const resource = url?.href ?? base;
    const root = this.#resources.get(resource);
    const anchored = this.#anchors.get(`${resource}#${fragment}`);
    if (anchored !== undefined) return { schema: anchored, base: resource };
    if (root === undefined) return undefined;
    return fragment === "" ? { schema: root, base: resource } : this.#follow(root, fragment, resource);
  }

  #follow(root: unknown, fragment: string, resource: string): { schema: unknown; base: string } | undefined {
    const steps = decoded(fragment).split("/");
    if (steps.shift() !== "") return undefined;
    let at = root;
    let base = resource;
    for (const step of steps) {
      const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
      if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return undefined;
      at = (at as Record<string, unknown>)[key];
      const { $id } = Object(at) as { $id?: unknown };
      base = resolveId($id, base)?.href ?? base;
    }
    return at === undefined ? undefined : { schema: at, base };
  }
}

const acceptAll = new SchemaNode("true");
const rejectAll = new SchemaNode("false");
rejectAll.checks.push((value, place, validation) =>
  validation.refuse(place, "expected nothing, because the schema allows no value here", value),
);

function resolveId(id: unknown, base: string): URL | null {
  if (typeof id !== "string") return null;
  const url = id.length > maxIdLength ? undefined : URL.parse(id, base);
  if (url === undefined || (url && url.href.length > maxIdLength))
    throw new Error(`An $id in the schema has more than ${maxIdLength} characters. Use a shorter one.`);
  return url;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A schema that refers to itself without descending into the value could never be checked. */
function refuseCircles(nodes: readonly SchemaNode[]): void {
  const state = new Map<SchemaNode, "open" | "done">();
  for (const start of nodes) {
    const stack = [start];
    while (stack.length > 0) {
      const node = stack.at(-1) as SchemaNode;
      if (state.has(node)) {
        state.set(node, "done");
        stack.pop();
        continue;
      }
      state.set(node, "open");
      for (const next of node.inPlace) {
        if (state.get(next) === "open")
          throw new Error(
            `${node.path}: expected a $ref that goes into the value, such as in properties or items, got one that leads back to itself.`,
          );
        if (!state.has(next)) stack.push(next);
      }
    }
  }
}
