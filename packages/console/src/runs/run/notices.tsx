// What went wrong in a run, and what to do about it.

import { adviceFor, adviceForIncomplete } from "../trace/advice.ts";
import type { Trace } from "../trace/events.ts";
import type { ResponseObject } from "./response.ts";

export interface NoticesProps {
  readonly response: ResponseObject;
  readonly trace: Omit<Trace, "events"> | undefined;
}

export function Notices({ response, trace }: NoticesProps) {
  const { error, incomplete_details: incomplete, warnings = [] } = response;
  return (
    <>
      {error && (
        <div class="notice bad stack" role="alert">
          <p>
            <strong>{error.message}</strong> <code>{error.code}</code>
          </p>
          <p>{adviceFor(error.code)}</p>
        </div>
      )}
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
