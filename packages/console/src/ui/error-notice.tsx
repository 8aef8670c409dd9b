// An error with what to do about it.

export interface ErrorNoticeProps {
  readonly title: string;
  /** What the server said, as it is. Default: nothing. */
  readonly message?: string | undefined;
  /** The code of the error. Default: none. */
  readonly code?: string | undefined;
  /** What a person can do. Default: nothing. */
  readonly advice?: string | undefined;
  /** Default: there is no button. */
  readonly onRetry?: (() => void) | undefined;
}

export function ErrorNotice({ title, message, code, advice, onRetry }: ErrorNoticeProps) {
  return (
    <div class="notice bad stack" role="alert">
      <p>
        <strong>{title}</strong> {code !== undefined && <code>{code}</code>}
      </p>
      {message !== undefined && <p class="error-text">{message}</p>}
      {advice !== undefined && <p>{advice}</p>}
      {onRetry && (
        <div>
          <button class="button" type="button" onClick={onRetry}>
            Try again
          </button>
        </div>
      )}
    </div>
  );
}
