// A JSON Schema as a list of its fields. What is inside a field is made when it is opened, so a schema may refer to
// itself.

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import {
  descriptionOf,
  itemsOf,
  limitsOf,
  propertiesOf,
  refName,
  resolveRef,
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
  const resolved = resolveRef(schema, root);
  if (!hasContent(resolved)) return <p class="soft">{typeText(resolved, root)}</p>;
  return (
    <div class="schema">
      <SchemaContent schema={resolved} root={root} />
    </div>
  );
}

function SchemaContent({ schema, root }: Required<SchemaViewProps>) {
  const items = itemsOf(schema);
  return (
    <ul>
      {propertiesOf(schema).map(({ name, schema: property, isRequired }) => (
        <SchemaRow key={name} schema={property} root={root}>
          <code class="schema-name">{name}</code>
          <span class="schema-type">{typeText(property, root)}</span>
          {isRequired && <span class="schema-required">required</span>}
        </SchemaRow>
      ))}
      {items !== undefined && (
        <SchemaRow schema={items} root={root}>
          <span class="schema-type">each item: {typeText(items, root)}</span>
        </SchemaRow>
      )}
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
  const resolved = resolveRef(schema, root);
  const inner = hasContent(resolved) ? resolved : resolveRef(itemsOf(resolved), root);
  const description = descriptionOf(schema) ?? descriptionOf(resolved);
  const limits = limitsOf(resolved);
  const about = (
    <>
      {description !== undefined && <p>{description}</p>}
      {limits.length > 0 && <p class="soft">{limits.join(" · ")}</p>}
    </>
  );
  if (!hasContent(inner))
    return (
      <li>
        <div class="schema-head">{children}</div>
        {about}
      </li>
    );
  return (
    <li>
      <details
        onToggle={(event) => {
          isOpen.value = event.currentTarget.open;
        }}
      >
        <summary class="schema-head">{children}</summary>
        {isOpen.value && <SchemaContent schema={resolved} root={root} />}
      </details>
      {about}
    </li>
  );
}

function hasContent(schema: unknown): boolean {
  return propertiesOf(schema).length > 0 || variantsOf(schema).length > 0 || itemsOf(schema) !== undefined;
}

/** The name of the variant, or the value of its field `type` that tells it from the others. */
function variantTitle(variant: unknown, root: unknown, index: number): string {
  const resolved = resolveRef(variant, root);
  const type = propertiesOf(resolved).find(({ name }) => name === "type");
  const value = type && typeText(type.schema, root);
  if (value?.startsWith('"')) return value.slice(1, -1);
  return refName(variant) ?? `${index + 1}: ${typeText(variant, root)}`;
}
