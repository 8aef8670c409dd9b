// A JSON Schema as a list of its fields. What is inside a field is made when it is opened, so a schema may refer to
// itself.

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import {
  descriptionOf,
  essenceOf,
  itemsOf,
  limitsOf,
  propertiesOf,
  refName,
  typeText,
  variantsOf,
} from "./json-schema.ts";
import "./schema-view.css";

export interface SchemaViewProps {
  readonly schema: unknown;
  /** The document that a `$ref` points into. Default: the schema itself. */
  readonly root?: unknown;
}

export function SchemaView({ schema, root = schema }: SchemaViewProps) {
  const content = contentOf(schema, root);
  if (content === undefined) return <p class="soft">{typeText(schema, root)}</p>;
  return (
    <div class="schema">
      <SchemaContent schema={content} root={root} />
    </div>
  );
}

function SchemaContent({ schema, root }: Required<SchemaViewProps>) {
  return (
    <ul>
      {propertiesOf(schema).map(({ name, schema: property, isRequired }) => (
        <SchemaRow key={name} schema={property} root={root}>
          <code class="schema-name">{name}</code> <span class="schema-type">{typeText(property, root)}</span>{" "}
          {isRequired && <span class="schema-required">required</span>}
        </SchemaRow>
      ))}
      {variantsOf(schema).map((variant, index) => (
        <SchemaRow key={`variant-${index}`} schema={variant} root={root}>
          <span class="schema-type">{variantTitle(variant, root, index)}</span>
        </SchemaRow>
      ))}
    </ul>
  );
}

interface SchemaRowProps extends Required<SchemaViewProps> {
  readonly children: ComponentChildren;
}

function SchemaRow({ schema, root, children }: SchemaRowProps) {
  const isOpen = useSignal(false);
  const essence = essenceOf(schema, root);
  const content = contentOf(schema, root);
  const description = descriptionOf(schema) ?? descriptionOf(essence);
  const limits = [...limitsOf(essence), ...limitsOf(essenceOf(itemsOf(essence), root))];
  return (
    <li>
      {content === undefined ? (
        <div class="schema-head">{children}</div>
      ) : (
        <details
          onToggle={(event) => {
            isOpen.value = event.currentTarget.open;
          }}
        >
          <summary class="schema-head">{children}</summary>
          {isOpen.value && <SchemaContent schema={content} root={root} />}
        </details>
      )}
      {description !== undefined && <p>{description}</p>}
      {limits.length > 0 && <p class="soft">{limits.join(" · ")}</p>}
    </li>
  );
}

/** What can be opened: an object, a choice of schemas, or those of an array's items. Undefined if there is nothing. */
function contentOf(schema: unknown, root: unknown): unknown {
  let essence = essenceOf(schema, root);
  for (let depth = 0; depth < 4; depth += 1) {
    if (propertiesOf(essence).length > 0 || variantsOf(essence).length > 0) return essence;
    essence = essenceOf(itemsOf(essence), root);
  }
  return undefined;
}

/** The name of the variant, or the value of its field `type` that tells it from the others. */
function variantTitle(variant: unknown, root: unknown, index: number): string {
  const type = propertiesOf(essenceOf(variant, root)).find(({ name }) => name === "type");
  const value = type && typeText(type.schema, root);
  if (value?.startsWith('"')) return value.slice(1, -1);
  return refName(variant) ?? `${index + 1}: ${typeText(variant, root)}`;
}
