// The run as code to copy: for a shell, with the library, and as a test.

import { serverAddress } from "../../api/address.ts";
import { key } from "../../api/key.ts";
import { useLoaded } from "../../api/load.ts";
import type { ResponseObject } from "../../api/response.ts";
import { CodeBlock } from "../../ui/code-block.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { ErrorNotice } from "../../ui/error-notice.tsx";
import { ModalDialog } from "../../ui/modal-dialog.tsx";
import { Spinner } from "../../ui/spinner.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { toCurl } from "../code/curl.ts";
import { toLibraryCode } from "../code/library-code.ts";
import type { RunRecord } from "../code/record.ts";
import { toScriptedTest } from "../code/scripted-test.ts";
import { loadRecord } from "./load-record.ts";
import type { RunState } from "./run-state.ts";

export interface CodeDialogProps {
  readonly state: RunState;
  readonly response: ResponseObject;
  readonly onClose: () => void;
}

/** More is copied, but not shown. */
const shownChars = 20_000;

export function CodeDialog({ state, response, onClose }: CodeDialogProps) {
  const record = useLoaded(() => loadRecord(state, response), [response.id]);
  const { value, error, reload } = record;
  return (
    <ModalDialog label="Copy as code" look="code-dialog" onClose={onClose}>
      <div class="dialog-body stack">
        <h2>Copy as code</h2>
        {error.value && (
          <ErrorNotice title="The run could not be read." message={error.value.message} onRetry={reload} />
        )}
        {value.value ? (
          <Programs record={value.value} />
        ) : (
          <p class="row soft">
            <Spinner /> Reading the run …
          </p>
        )}
      </div>
    </ModalDialog>
  );
}

function Programs({ record }: { readonly record: RunRecord }) {
  const options = { origin: serverAddress(), needsKey: key.value !== null };
  return (
    <Tabs
      label="Languages"
      tabs={[
        {
          id: "curl",
          title: "curl",
          content: () => (
            <Program about="Sends the same request to this server." code={toCurl(record, options)} />
          ),
        },
        {
          id: "library",
          title: "Library",
          content: () => (
            <Program
              about="Asks the model server with rondo. The tools give what they gave in this run."
              code={toLibraryCode(record)}
            />
          ),
        },
        {
          id: "test",
          title: "Test",
          content: () => (
            <Program
              about="A test without a model: the scripted model answers as the model did."
              code={toScriptedTest(record)}
            />
          ),
        },
      ]}
    />
  );
}

function Program({ about, code }: { readonly about: string; readonly code: string }) {
  return (
    <div class="stack">
      <p class="soft">{about}</p>
      <CodeBlock label="Program">
        {code.length > shownChars ? `${code.slice(0, shownChars)}\n…` : code}
      </CodeBlock>
      <div>
        <CopyButton text={() => code} />
      </div>
    </div>
  );
}
