// One operation: how to call it, what it takes, and what it replies.

import { get } from "../api/api.ts";
import { key } from "../api/key.ts";
import { useLoaded } from "../api/load.ts";
import { CodeBlock } from "../ui/code-block.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { limitsOf, refName, typeText } from "../ui/json-schema.ts";
import { SchemaView } from "../ui/schema-view.tsx";
import { curlOf } from "./curl.ts";
import type { Content, Operation, Parameter, Reply } from "./operations.ts";

export interface OperationDetailProps {
  readonly operation: Operation;
  readonly document: unknown;
}

export function OperationDetail({ operation, document }: OperationDetailProps) {
  const { method, path, summary, parameters, body, replies, isPublic } = operation;
  const models = useLoaded((signal) => get<{ data: readonly { id: string }[] }>("v1/models", { signal }), []);
  const curl = curlOf(operation, {
    url: new URL(".", globalThis.document.baseURI).href.replace(/\/$/, ""),
    hasKey: key.value !== null,
    document,
    model: models.value.value?.data[0]?.id ?? "MODEL",
  });
  return (
    <>
      <section>
        <div class="row operation-head">
          <span class={`method ${method.toLowerCase()}`}>{method}</span>
          <h2 class="mono operation-path">{path}</h2>
          {isPublic && <span class="badge">needs no key</span>}
        </div>
        <p>{summary}</p>
      </section>
      <section>
        <div class="row">
          <h3 class="grow">Call it</h3>
          <CopyButton label="Copy as curl" text={() => curl} />
        </div>
        <CodeBlock label="The call as a curl command">{curl}</CodeBlock>
      </section>
      {parameters.length > 0 && (
        <section>
          <h3>Parameters</h3>
          <Parameters parameters={parameters} document={document} />
        </section>
      )}
      {body.length > 0 && (
        <section>
          <h3>Body</h3>
          <Contents contents={body} document={document} />
        </section>
      )}
      <section>
        <h3>Replies</h3>
        <Replies replies={replies} document={document} />
      </section>
    </>
  );
}

interface ParametersProps {
  readonly parameters: readonly Parameter[];
  readonly document: unknown;
}

function Parameters({ parameters, document }: ParametersProps) {
  return (
    <ul class="card parameters">
      {parameters.map(({ name, place, isRequired, description, schema }) => (
        <li key={`${place} ${name}`}>
          <div class="schema-head">
            <code class="schema-name">{name}</code>{" "}
            <span class="schema-type">
              {typeText(schema, document)}, in the {place}
            </span>{" "}
            {isRequired && <span class="schema-required">required</span>}
          </div>
          {description !== undefined && <p>{description}</p>}
          {limitsOf(schema).length > 0 && <p class="soft">{limitsOf(schema).join(" · ")}</p>}
        </li>
      ))}
    </ul>
  );
}

interface ContentsProps {
  readonly contents: readonly Content[];
  readonly document: unknown;
}

function Contents({ contents, document }: ContentsProps) {
  return (
    <>
      {contents.map(({ type, schema }) => (
        <div key={type} class="card stack">
          <p class="soft">
            <code>{type}</code> {refName(schema)}
          </p>
          <SchemaView schema={schema} root={document} />
        </div>
      ))}
    </>
  );
}

interface RepliesProps {
  readonly replies: readonly Reply[];
  readonly document: unknown;
}

function Replies({ replies, document }: RepliesProps) {
  return (
    <div class="stack">
      {replies.map(({ status, description, contents }) => {
        const isGood = status.startsWith("2");
        return (
          <details key={status} class="reply" open={isGood}>
            <summary>
              <span class={`badge ${isGood ? "good" : status === "default" ? "" : "warn"}`}>{status}</span>
              <span>{description}</span>
            </summary>
            <Contents contents={contents} document={document} />
            {contents.length === 0 && <p class="soft">No body.</p>}
          </details>
        );
      })}
    </div>
  );
}
