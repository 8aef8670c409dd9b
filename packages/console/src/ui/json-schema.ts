// Reads JSON Schemas for people. They come from tools, MCP servers and clients: each function looks at one level only,
// and takes anything.

export interface SchemaProperty {
  readonly name: string;
  readonly schema: unknown;
  readonly isRequired: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

const propertyLimit = 500;

/** Follows a `$ref` within the document, as often as a few in a row. */
export function resolveRef(schema: unknown, root: unknown): unknown {
  let current = schema;
  for (let hops = 0; hops < 8; hops += 1) {
    const ref = fieldsOf(current)?.["$ref"];
    if (typeof ref !== "string" || !ref.startsWith("#")) return current;
    current = ref
      .slice(1)
      .split("/")
      .filter((part) => part !== "")
      .reduce<unknown>((value, part) => ownField(value, unescapePart(part)), root);
  }
  return current;
}

/** What a reader wants to see of a schema: what it refers to, and of "something or null" the something. */
export function essenceOf(schema: unknown, root: unknown): unknown {
  const resolved = resolveRef(schema, root);
  const only = exceptNull(resolved);
  return only === undefined ? resolved : resolveRef(only, root);
}

/** The name of what a `$ref` points to: "Response" of `#/components/schemas/Response`. */
export function refName(schema: unknown): string | undefined {
  const ref = fieldsOf(schema)?.["$ref"];
  return typeof ref === "string" ? ref.slice(ref.lastIndexOf("/") + 1) : undefined;
}

/** The type in a few words: "string", "array of integer", "string or null", "one of 3". */
export function typeText(schema: unknown, root: unknown): string {
  const name = refName(schema);
  if (name !== undefined) return name;
  const fields = fieldsOf(schema);
  if (!fields) return schema === false ? "nothing" : "anything";
  if ("const" in fields) return JSON.stringify(fields["const"]);
  const { type, items } = fields;
  if (Array.isArray(fields["enum"])) return fields["enum"].length === 1 ? "one value" : "a choice";
  if (type === "array") {
    const each = fieldsOf(resolveRef(items, root))?.["enum"] ? "choices" : plainType(items);
    return each === undefined ? "array" : `array of ${each}`;
  }
  const only = exceptNull(schema);
  if (only !== undefined) return `${typeText(only, root)} or null`;
  const variants = variantsOf(schema);
  if (variants.length > 0) {
    const names = variants.map((variant) => plainType(variant));
    return variants.length <= 3 && names.every((each) => each !== undefined)
      ? names.join(" or ")
      : `one of ${variants.length}`;
  }
  if (Array.isArray(type)) return type.filter((each) => typeof each === "string").join(" or ");
  if (typeof type === "string") return type;
  return "properties" in fields ? "object" : "anything";
}

export function descriptionOf(schema: unknown): string | undefined {
  const description = fieldsOf(schema)?.["description"];
  return typeof description === "string" && description !== "" ? description : undefined;
}

/** The limits in a few words each: "at least 1", "default: 20". */
export function limitsOf(schema: unknown): string[] {
  const fields = fieldsOf(schema) ?? {};
  const found = Object.entries(limitWords).flatMap(([name, words]) =>
    name in fields ? [`${words} ${shorten(JSON.stringify(fields[name]) ?? "")}`] : [],
  );
  const { enum: choices } = fields;
  if (Array.isArray(choices))
    found.unshift(shorten(choices.map((choice) => JSON.stringify(choice)).join(", "), 400));
  return found;
}

export function propertiesOf(schema: unknown): SchemaProperty[] {
  const fields = fieldsOf(schema);
  const required = Array.isArray(fields?.["required"]) ? fields["required"] : [];
  return Object.entries(fieldsOf(fields?.["properties"]) ?? {})
    .slice(0, propertyLimit)
    .map(([name, property]) => ({ name, schema: property, isRequired: required.includes(name) }));
}

/** What each item of an array is; undefined if it is not an array with such a rule. */
export function itemsOf(schema: unknown): unknown {
  return fieldsOf(schema)?.["items"];
}

/** The schemas of which one, or all, must fit. */
export function variantsOf(schema: unknown): unknown[] {
  const fields = fieldsOf(schema);
  const lists = [fields?.["oneOf"], fields?.["anyOf"], fields?.["allOf"]];
  return lists.flatMap((list) => (Array.isArray(list) ? list : [])).slice(0, propertyLimit);
}

export function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

const limitWords: Readonly<Record<string, string>> = {
  default: "default:",
  format: "format:",
  minimum: "at least",
  maximum: "at most",
  exclusiveMinimum: "more than",
  exclusiveMaximum: "less than",
  minLength: "characters, at least:",
  maxLength: "characters, at most:",
  minItems: "items, at least:",
  maxItems: "items, at most:",
  pattern: "pattern:",
};

/** The schema of "this or null". */
function exceptNull(schema: unknown): unknown {
  const variants = variantsOf(schema);
  const others = variants.filter((variant) => fieldsOf(variant)?.["type"] !== "null");
  return variants.length === 2 && others.length === 1 ? others[0] : undefined;
}

function plainType(schema: unknown): string | undefined {
  const name = refName(schema);
  if (name !== undefined) return name;
  const fields = fieldsOf(schema);
  if (fields && "const" in fields) return JSON.stringify(fields["const"]);
  return typeof fields?.["type"] === "string" ? fields["type"] : undefined;
}

function ownField(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Fields)[name];
}

function unescapePart(part: string): string {
  return part.replaceAll("~1", "/").replaceAll("~0", "~");
}

function shorten(text: string, limit = 120): string {
  return text.length > limit ? `${text.slice(0, limit)} …` : text;
}
