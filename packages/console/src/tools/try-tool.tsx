// A form made from the tool's schema, or JSON, and what the tool gave.

import { useSignal } from "@preact/signals";
import { useEffect, useId, useRef } from "preact/hooks";
import { isAbort, messageOf, post } from "../api/api.ts";
import type { ToolInfo, ToolOutcome } from "../api/inspect-types.ts";
import { useCommands } from "../shell/commands.ts";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { Icon } from "../ui/icon.tsx";
import { Spinner } from "../ui/spinner.tsx";
import { type EnteredValues, type FormField, formFieldsOf, readFields, readJson } from "./tool-form.ts";
import { submitOnControlEnter, ToolFormField } from "./tool-form-field.tsx";
import { ToolResult } from "./tool-result.tsx";

export function TryTool({ tool }: { readonly tool: ToolInfo }) {
  const fields = formFieldsOf(tool.input_schema);
  const asJson = useSignal(fields === undefined);
  const entered = useSignal<EnteredValues>(initialValues(fields));
  const json = useSignal("{}");
  const problems = useSignal<ReadonlyMap<string, string>>(new Map());
  const outcome = useSignal<ToolOutcome | undefined>(undefined);
  const failure = useSignal<string | undefined>(undefined);
  const running = useSignal<AbortController | undefined>(undefined);
  const form = useRef<HTMLFormElement>(null);
  const id = useId();

  useEffect(() => () => running.peek()?.abort(), []);
  useCommands([{ title: `Run ${tool.name}`, icon: "play", run: () => form.current?.requestSubmit() }]);

  const submit = async (event: Event) => {
    event.preventDefault();
    if (running.value) return;
    const read = asJson.value || !fields ? readJson(json.value) : readFields(fields, entered.value);
    problems.value = read.problems;
    if (read.problems.size > 0) return;
    const controller = new AbortController();
    running.value = controller;
    failure.value = undefined;
    try {
      const body = {
        name: tool.name,
        ...(tool.server_label !== null && { server_label: tool.server_label }),
        arguments: read.arguments,
      };
      outcome.value = await post<ToolOutcome>("v1/tools/call", body, { signal: controller.signal });
    } catch (error) {
      outcome.value = undefined;
      failure.value = isAbort(error) ? "You stopped it." : messageOf(error);
    } finally {
      running.value = undefined;
    }
  };
  const switchForm = () => {
    const read = fields && !asJson.value ? readFields(fields, entered.value) : undefined;
    if (read?.arguments) json.value = JSON.stringify(read.arguments, null, 2);
    problems.value = new Map();
    asJson.value = !asJson.value;
  };

  return (
    <>
      <form class="card stack" ref={form} onSubmit={submit} noValidate>
        {asJson.value || !fields ? (
          <label class="field">
            <span>Arguments as JSON</span>
            <textarea
              class="input mono"
              rows={6}
              spellcheck={false}
              aria-invalid={problems.value.has("")}
              aria-describedby={problems.value.has("") ? `${id}-problem` : undefined}
              value={json}
              onInput={(event) => {
                json.value = event.currentTarget.value;
              }}
              onKeyDown={submitOnControlEnter}
            />
          </label>
        ) : (
          fields.map((field) => (
            <ToolFormField
              key={field.name}
              field={field}
              value={entered.value.get(field.name) ?? ""}
              problem={problems.value.get(field.name)}
              onChange={(value) => {
                entered.value = new Map(entered.value).set(field.name, value);
              }}
            />
          ))
        )}
        {fields?.length === 0 && !asJson.value && <p class="soft">It takes no arguments.</p>}
        {problems.value.has("") && (
          <p class="field-problem" id={`${id}-problem`} role="alert">
            {problems.value.get("")}
          </p>
        )}
        <div class="row">
          <button class="button primary" type="submit" disabled={running.value !== undefined}>
            {running.value ? <Spinner /> : <Icon name="play" />}
            {running.value ? "Running …" : "Run"}
          </button>
          {running.value && (
            <button class="button" type="button" onClick={() => running.value?.abort()}>
              Stop
            </button>
          )}
          {fields && fields.length > 0 && (
            <button class="button quiet" type="button" onClick={switchForm}>
              {asJson.value ? "Use the form" : "Edit as JSON"}
            </button>
          )}
        </div>
      </form>
      {failure.value !== undefined && <ErrorNotice title="The tool did not run." message={failure.value} />}
      {outcome.value && <ToolResult outcome={outcome.value} />}
    </>
  );
}

function initialValues(fields: readonly FormField[] | undefined): EnteredValues {
  return new Map(fields?.map(({ name, initial }) => [name, initial]));
}
