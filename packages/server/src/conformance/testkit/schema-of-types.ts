// JSON Schema from TypeScript declarations: what a value must be to have a type. It is strict: an object has no
// keys but the declared ones, and a kind of type that is not understood is an error, never "anything goes".

import ts from "typescript";

export interface Schema {
  $ref?: string;
  $defs?: Record<string, Schema>;
  type?: string;
  enum?: (string | number | boolean | null)[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  anyOf?: Schema[];
  allOf?: Schema[];
  if?: Schema;
  then?: Schema;
}

/** The schemas of the exported types `names`, found in any of `files`, and of all that they are made of. */
export function schemaOfTypes(files: readonly string[], names: readonly string[]): Record<string, Schema> {
  const program = ts.createProgram({
    rootNames: [...files],
    options: {
      strict: true,
      skipLibCheck: true,
      types: [],
      lib: ["lib.esnext.d.ts"],
      module: ts.ModuleKind.NodeNext,
      target: ts.ScriptTarget.ESNext,
    },
  });
  const converter = new Converter(program.getTypeChecker());
  for (const name of names)
    converter.addExport(
      files.map((file) => program.getSourceFile(file)),
      name,
    );
  return converter.definitions;
}

class Converter {
  readonly definitions: Record<string, Schema> = {};
  readonly #checker: ts.TypeChecker;
  readonly #names = new Map<ts.Type, string>();

  constructor(checker: ts.TypeChecker) {
    this.#checker = checker;
  }

  addExport(files: readonly (ts.SourceFile | undefined)[], name: string): void {
    for (const file of files) {
      const module = file && this.#checker.getSymbolAtLocation(file);
      const found = module?.exports?.get(ts.escapeLeadingUnderscores(name));
      if (!found) continue;
      const schema = this.#convert(this.#checker.getDeclaredTypeOfSymbol(found));
      this.definitions[name] ??= schema;
      return;
    }
    throw new Error(`No declaration exports '${name}': the package has changed, see its types.`);
  }

  #convert(type: ts.Type): Schema {
    const { flags } = type;
    if (flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) return {};
    if (flags & ts.TypeFlags.String) return { type: "string" };
    if (flags & ts.TypeFlags.Number) return { type: "number" };
    if (flags & ts.TypeFlags.Boolean) return { type: "boolean" };
    if (flags & ts.TypeFlags.Null) return { enum: [null] };
    if (type.isStringLiteral() || type.isNumberLiteral()) return { enum: [type.value] };
    if (flags & ts.TypeFlags.BooleanLiteral) return { enum: [this.#checker.typeToString(type) === "true"] };
    if (type.isUnion()) return this.#union(type.types);
    if (type.isIntersection()) return this.#intersection(type);
    if (this.#checker.isArrayType(type)) {
      const [element] = this.#checker.getTypeArguments(type as ts.TypeReference);
      return element ? { items: this.#convert(element), type: "array" } : { type: "array" };
    }
    if (flags & ts.TypeFlags.Object && type.getCallSignatures().length === 0) return this.#reference(type);
    throw new Error(`No schema for the type '${this.#checker.typeToString(type)}': teach the converter.`);
  }

  /** `string & {}` is how declarations say "any string, and these are known". */
  #intersection(type: ts.IntersectionType): Schema {
    const basic = type.types.find(({ flags }) => flags & (ts.TypeFlags.String | ts.TypeFlags.Number));
    return basic ? this.#convert(basic) : this.#object(type);
  }

  #union(all: readonly ts.Type[]): Schema {
    const members = all.filter(({ flags }) => !(flags & ts.TypeFlags.Undefined));
    const [only] = members;
    if (only && members.length === 1) return this.#convert(only);
    const literals: NonNullable<Schema["enum"]> = [];
    const others: ts.Type[] = [];
    for (const member of members) {
      const schema = member.flags & ts.TypeFlags.Object ? undefined : this.#convert(member);
      if (schema?.enum) literals.push(...schema.enum);
      else others.push(member);
    }
    const choices = [...(literals.length > 0 ? [{ enum: literals }] : []), ...this.#choices(others)];
    return choices.length === 1 && choices[0] ? choices[0] : { anyOf: choices };
  }

  #choices(members: readonly ts.Type[]): Schema[] {
    const byTag = new Map<string, Schema[]>();
    for (const member of members) {
      const tags = this.#tagsOf(member);
      // Not all are told apart by their `type`: one of them has to fit.
      if (tags.length === 0) return members.map((each) => this.#convert(each));
      for (const tag of tags) byTag.set(tag, [...(byTag.get(tag) ?? []), this.#convert(member)]);
    }
    return byTag.size > 1 ? [taggedUnion(byTag)] : members.map((each) => this.#convert(each));
  }

  /** The values that `type` may have in an object, if it must have one. */
  #tagsOf(type: ts.Type): string[] {
    const tag = type.getProperty("type");
    if (!tag || tag.flags & ts.SymbolFlags.Optional) return [];
    const tagType = this.#checker.getTypeOfSymbol(tag);
    const values = tagType.isUnion() ? tagType.types : [tagType];
    return values.every((value) => value.isStringLiteral()) ? values.map(({ value }) => value) : [];
  }

  #reference(type: ts.Type): Schema {
    const symbol = type.getSymbol();
    if (!symbol || symbol.name.startsWith("__")) return this.#object(type);
    let name = this.#names.get(type);
    if (name === undefined) {
      name = this.#checker.getFullyQualifiedName(symbol).replace(/^".*"\./, "");
      if (name in this.definitions) throw new Error(`Two types have the name '${name}'.`);
      this.#names.set(type, name);
      this.definitions[name] = {};
      Object.assign(this.definitions[name] as Schema, this.#object(type));
    }
    return { $ref: `#/$defs/${name}` };
  }

  #object(type: ts.Type): Schema {
    const properties: Record<string, Schema> = {};
    const required: string[] = [];
    for (const property of this.#checker.getPropertiesOfType(type)) {
      properties[property.name] = this.#convert(this.#checker.getTypeOfSymbol(property));
      if (!(property.flags & ts.SymbolFlags.Optional)) required.push(property.name);
    }
    const values = this.#checker.getIndexTypeOfType(type, ts.IndexKind.String);
    return {
      type: "object",
      properties,
      required,
      additionalProperties: values ? this.#convert(values) : false,
    };
  }
}

/** A union whose members are told apart by `type`: errors then speak of the member that was meant. */
function taggedUnion(byTag: ReadonlyMap<string, Schema[]>): Schema {
  return {
    type: "object",
    required: ["type"],
    properties: { type: { enum: [...byTag.keys()] } },
    allOf: [...byTag].map(([tag, schemas]) =>
      whenTagged(tag, schemas.length === 1 && schemas[0] ? schemas[0] : { anyOf: schemas }),
    ),
  };
}

/** A schema that asks something of those objects only whose `type` is `tag`. */
export function whenTagged(tag: string, schema: Schema): Schema {
  // biome-ignore lint/suspicious/noThenProperty: it is JSON Schema's word.
  return { if: { properties: { type: { enum: [tag] } } }, then: schema }; // oxlint-disable-line unicorn/no-thenable
}
