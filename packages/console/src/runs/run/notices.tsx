// What went wrong in a run, and what to do about it.

import type { ResponseObject } from "../../api/response.ts";
import { ErrorNotice } from "../../ui/error-notice.tsx";
import { adviceFor, adviceForIncomplete } from "../trace/advice.ts";
import type { Trace } from "../trace/events.ts";

export interface NoticesProps {
  readonly response: ResponseObject;
  readonly trace: Omit<Trace, "events"> | undefined;
}

export function Notices({ response, trace }: NoticesProps) {
  const { error, incomplete_details: incomplete, warnings = [] } = response;
  return (
    <>
      {error && <ErrorNotice title={error.message} code={error.code} advice={adviceFor(error.code)} />}
      {incomplete && !error && (
        <p class={incomplete.reason === "cancelled" ? "notice" : "notice warn"}>
          {adviceForIncomplete(incomplete.reason)}
        </p>
      )}
      {warnings.map(({ code, message }) => (
        <p key={code + message} class="notice warn">
          {message}
        </p>
      ))}
      {trace?.is_cut && <p class="notice">The trace reached its limit: the end of the run is not in it.</p>}
    </>
  );
}
