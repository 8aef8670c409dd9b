// How the model should answer: the system prompt, its settings, and the shape of the answer.

import { useId } from "preact/hooks";
import { Popover } from "../ui/popover.tsx";
import { schemaProblem } from "./request.ts";
import { type ChatSettings, changeSettings, defaultSettings, efforts, settings } from "./settings.ts";

export function SettingsPanel() {
  const { instructions, temperature, maxOutputTokens, effort, schema } = settings.value;
  const problem = schemaProblem(schema);
  const id = useId();
  const isChanged = [instructions, temperature, maxOutputTokens, effort, schema].some(
    (value) => value !== "",
  );
  return (
    <Popover icon="settings" label={isChanged ? "Settings •" : "Settings"}>
      <label class="field">
        <span>System prompt</span>
        <textarea class="input" rows={4} value={instructions} onInput={change("instructions")} />
      </label>
      <div class="setting-pairs">
        <NumberField name="temperature" label="Temperature" value={temperature} max={2} step={0.1} />
        <NumberField name="maxOutputTokens" label="Most tokens" value={maxOutputTokens} min={1} step={1} />
        <label class="field">
          <span>Thinking</span>
          <select class="input" value={effort} onChange={change("effort")}>
            <option value="">default</option>
            {efforts.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
      </div>
      <label class="field">
        <span>JSON schema of the answer</span>
        <textarea
          class="input mono"
          rows={4}
          spellcheck={false}
          placeholder='{ "type": "object", "properties": { "sum": { "type": "number" } } }'
          aria-invalid={problem !== undefined}
          aria-describedby={`${id}-problem`}
          value={schema}
          onInput={change("schema")}
        />
      </label>
      <p id={`${id}-problem`} class="setting-problem" role="status">
        {problem}
      </p>
      <div>
        <button
          class="button"
          type="button"
          disabled={!isChanged}
          onClick={() => {
            const { model, tools } = settings.peek();
            changeSettings({ ...defaultSettings, model, tools });
          }}
        >
          Reset
        </button>
      </div>
    </Popover>
  );
}

interface NumberFieldProps {
  readonly name: keyof ChatSettings;
  readonly label: string;
  readonly value: string;
  readonly min?: number;
  readonly max?: number;
  readonly step: number;
}

function NumberField({ name, label, value, min = 0, max, step }: NumberFieldProps) {
  return (
    <label class="field">
      <span>{label}</span>
      <input
        class="input"
        type="number"
        min={min}
        max={max}
        step={step}
        placeholder="default"
        value={value}
        onInput={change(name)}
      />
    </label>
  );
}

function change(name: keyof ChatSettings) {
  return (event: { currentTarget: { value: string } }) =>
    changeSettings({ [name]: event.currentTarget.value });
}
