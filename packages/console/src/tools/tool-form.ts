// A form for the arguments of a tool: its fields, from the tool's schema, and what was entered, as arguments.

import { descriptionOf, fieldsOf, propertiesOf, resolveRef } from "../ui/json-schema.ts";

export interface FormField {
  readonly name: string;
  readonly kind: "text" | "number" | "integer" | "boolean" | "choice";
  readonly description: string | undefined;
  readonly isRequired: boolean;
  /** The values of a choice, as JSON. */
  readonly choices: readonly string[];
  /** What is there at first. */
  readonly initial: string;
}

/** By the names of the fields. */
export type EnteredValues = ReadonlyMap<string, string>;

export interface ReadArguments {
  readonly arguments?: unknown;
  /** What to change, by field; an empty name stands for all of it. */
  readonly problems: ReadonlyMap<string, string>;
}

const fieldLimit = 40;
const kinds: ReadonlySet<unknown> = new Set(["number", "integer", "boolean"]);
/** With these, a schema can take arguments that its own properties do not name. */
const otherSources = ["anyOf", "oneOf", "allOf", "if", "patternProperties", "$ref"];

/** The fields of a flat object; undefined for any other schema, whose arguments are entered as JSON. */
export function formFieldsOf(schema: unknown): readonly FormField[] | undefined {
  const type = fieldsOf(schema)?.["type"];
  const properties = propertiesOf(schema);
  if (type !== "object" || properties.length > fieldLimit || takesOtherKeys(schema)) return undefined;
  const fields: FormField[] = [];
  for (const { name, schema: property, isRequired } of properties) {
    const field = formFieldOf(name, resolveRef(property, schema), isRequired);
    if (!field) return undefined;
    fields.push(field);
  }
  return fields;
}

/** What was entered, as the tool gets it. Empty fields are left out. */
export function readFields(fields: readonly FormField[], entered: EnteredValues): ReadArguments {
  const problems = new Map<string, string>();
  const values: [string, unknown][] = [];
  for (const { name, kind, isRequired } of fields) {
    const text = entered.get(name) ?? "";
    const isNumber = kind === "number" || kind === "integer";
    if (text === "" || (isNumber && text.trim() === "")) {
      if (isRequired) problems.set(name, "The tool needs a value here.");
    } else if (kind === "text") values.push([name, text]);
    else if (kind === "boolean" || kind === "choice") values.push([name, JSON.parse(text)]);
    else {
      const value = Number(text);
      if (!Number.isFinite(value)) problems.set(name, "Enter a number, such as 12.");
      else if (kind === "integer" && !Number.isInteger(value))
        problems.set(name, "Enter a whole number, such as 12.");
      else values.push([name, value]);
    }
  }
  return problems.size > 0 ? { problems } : { arguments: Object.fromEntries(values), problems };
}

/** Arguments that were entered as JSON. */
export function readJson(text: string): ReadArguments {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { problems: new Map([["", `This is not JSON: ${(error as Error).message}.`]]) };
  }
  if (!fieldsOf(value)) return { problems: new Map([["", 'Enter an object, such as { "name": "value" }.']]) };
  return { arguments: value, problems: new Map() };
}

/** Whether a form of its properties would leave out what matters. */
function takesOtherKeys(schema: unknown): boolean {
  const fields = fieldsOf(schema) ?? {};
  if (otherSources.some((name) => name in fields)) return true;
  const others = fields["additionalProperties"];
  return propertiesOf(schema).length === 0 && (others === true || fieldsOf(others) !== undefined);
}

function formFieldOf(name: string, schema: unknown, isRequired: boolean): FormField | undefined {
  const fields = fieldsOf(schema);
  if (!fields) return undefined;
  const { type, enum: values, default: initial } = fields;
  const common = { name, description: descriptionOf(schema), isRequired };
  if (Array.isArray(values)) {
    if (values.length === 0) return undefined;
    const choices = values.slice(0, 500).map((value) => JSON.stringify(value));
    return { ...common, kind: "choice", choices, initial: choiceOf(initial, choices) };
  }
  if (type === "string")
    return { ...common, kind: "text", choices: [], initial: typeof initial === "string" ? initial : "" };
  if (!kinds.has(type)) return undefined;
  return {
    ...common,
    kind: type as "number" | "integer" | "boolean",
    choices: type === "boolean" ? ["true", "false"] : [],
    initial: isOfType(initial, type) ? JSON.stringify(initial) : "",
  };
}

function isOfType(value: unknown, type: unknown): boolean {
  if (type === "integer") return Number.isInteger(value);
  return type === "number" ? Number.isFinite(value) : typeof value === type;
}

function choiceOf(value: unknown, choices: readonly string[]): string {
  const text = value === undefined ? "" : JSON.stringify(value);
  return choices.includes(text) ? text : "";
}
