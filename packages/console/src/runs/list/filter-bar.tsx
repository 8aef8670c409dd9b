// Search and filters of the list of runs.

import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { get } from "../../api/api.ts";
import { useLoaded } from "../../api/load.ts";
import { Icon } from "../../ui/icon.tsx";
import { periods, type RunFilters, statuses } from "./filters.ts";

export interface FilterBarProps {
  readonly filters: RunFilters;
  readonly onChange: (changed: Partial<RunFilters>) => void;
  /** Whether all filters are shown where there is little room. */
  readonly isOpen: Signal<boolean>;
}

/** How long one may type on before it is searched. */
const typingMs = 250;

const sources = ["console"];

export function FilterBar({ filters, onChange, isOpen }: FilterBarProps) {
  const models = useLoaded((signal) => get<{ data: readonly { id: string }[] }>("v1/models", { signal }), []);
  const active = Object.entries(filters).filter(([name, value]) => name !== "search" && value !== "").length;
  return (
    <search class="run-filters">
      <TypedInput
        class="run-search"
        label="Search titles and ids"
        value={filters.search}
        maxLength={120}
        onChange={(search) => onChange({ search })}
      />
      <button
        class="button run-filters-more"
        type="button"
        aria-expanded={isOpen.value}
        onClick={() => {
          isOpen.value = !isOpen.value;
        }}
      >
        Filters{active > 0 ? ` (${active})` : ""}
      </button>
      <div class={`run-filters-rest ${isOpen.value ? "open" : ""}`}>
        <Choice
          label="Status"
          any="Any status"
          value={filters.status}
          options={statuses}
          onChange={(status) => onChange({ status: status as RunFilters["status"] })}
        />
        <Choice
          label="Model"
          any="Any model"
          value={filters.model}
          options={withCurrent(models.value.value?.data.map(({ id }) => id) ?? [], filters.model)}
          onChange={(model) => onChange({ model })}
        />
        <Choice
          label="Kind"
          any="Any kind"
          value={filters.background}
          options={[
            ["true", "Background"],
            ["false", "Foreground"],
          ]}
          onChange={(background) => onChange({ background: background as RunFilters["background"] })}
        />
        <Choice
          label="Time"
          any="Any time"
          value={filters.since}
          options={periods.map(([value, words]) => [value, words] as const)}
          onChange={(since) => onChange({ since })}
        />
        <TypedInput
          class="run-source"
          label="Source"
          value={filters.source}
          maxLength={64}
          suggestions={sources}
          onChange={(source) => onChange({ source })}
        />
      </div>
    </search>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly any: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, words: string])[];
  readonly onChange: (value: string) => void;
}

function Choice({ label, any, value, options, onChange }: ChoiceProps) {
  return (
    <select
      class={`input ${value === "" ? "" : "chosen"}`}
      aria-label={label}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    >
      <option value="">{any}</option>
      {options.map(([each, words]) => (
        <option key={each} value={each}>
          {words}
        </option>
      ))}
    </select>
  );
}

interface TypedInputProps {
  readonly class: string;
  readonly label: string;
  readonly value: string;
  readonly maxLength: number;
  readonly suggestions?: readonly string[];
  readonly onChange: (value: string) => void;
}

/** An input whose value counts when one stops typing. */
function TypedInput({ label, value, maxLength, suggestions, onChange, class: name }: TypedInputProps) {
  const typed = useSignal(value);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => {
    typed.value = value;
    return () => clearTimeout(timer.current);
  }, [value]);
  const id = `${name}-suggestions`;
  return (
    <label class={`typed ${name}`}>
      {!suggestions && <Icon name="search" />}
      <span class="visually-hidden">{label}</span>
      <input
        class="input"
        type="search"
        placeholder={label}
        maxLength={maxLength}
        value={typed.value}
        {...(suggestions && { list: id })}
        onInput={(event) => {
          const { value: text } = event.currentTarget;
          typed.value = text;
          clearTimeout(timer.current);
          timer.current = setTimeout(() => onChange(text.trim()), typingMs);
        }}
      />
      {suggestions && (
        <datalist id={id}>
          {suggestions.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
      )}
    </label>
  );
}

/** The models to choose from, with the one of the place, which may be gone. */
function withCurrent(models: readonly string[], current: string): (readonly [string, string])[] {
  const all = current === "" || models.includes(current) ? models : [current, ...models];
  return all.map((id) => [id, id] as const);
}
