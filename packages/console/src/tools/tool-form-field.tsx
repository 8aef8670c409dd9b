// One argument of a tool, in the form.

import { useId } from "preact/hooks";
import type { FormField } from "./tool-form.ts";

export interface ToolFormFieldProps {
  readonly field: FormField;
  readonly value: string;
  readonly problem: string | undefined;
  readonly onChange: (value: string) => void;
}

export function ToolFormField({ field, value, problem, onChange }: ToolFormFieldProps) {
  const id = useId();
  const { name, kind, description, isRequired, choices } = field;
  const common = {
    id,
    class: "input",
    value,
    "aria-invalid": problem !== undefined,
    "aria-describedby": `${id}-about`,
    onInput: (event: Event) => onChange((event.currentTarget as HTMLInputElement).value),
  };
  return (
    <div class="field">
      <label class="tool-label" for={id}>
        <code>{name}</code> <span class="soft">{kind === "text" ? "string" : kind}</span>{" "}
        {isRequired && <span class="schema-required">required</span>}
      </label>
      {choices.length > 0 ? (
        <select {...common}>
          <option value="">{isRequired ? "Choose …" : "Not given"}</option>
          {choices.map((choice) => (
            <option key={choice} value={choice}>
              {choice.startsWith('"') ? JSON.parse(choice) : choice}
            </option>
          ))}
        </select>
      ) : kind === "text" ? (
        <textarea {...common} rows={1} class="input tool-text" onKeyDown={submitOnControlEnter} />
      ) : (
        <input {...common} type="text" inputMode={kind === "integer" ? "numeric" : "decimal"} />
      )}
      <div id={`${id}-about`}>
        {problem !== undefined && (
          <p class="field-problem" role="alert">
            {problem}
          </p>
        )}
        {description !== undefined && <p class="tool-field-about soft">{description}</p>}
      </div>
    </div>
  );
}

/** A text may have several lines, so Enter alone does not send it. */
export function submitOnControlEnter(event: KeyboardEvent): void {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  (event.currentTarget as HTMLTextAreaElement).form?.requestSubmit();
}
