// An error with what to do about it.

export interface ErrorNoticeProps {
  readonly title: string;
  readonly message: string;
  /** Default: there is no button. */
  readonly onRetry?: (() => void) | undefined;
}

export function ErrorNotice({ title, message, onRetry }: ErrorNoticeProps) {
  return (
    <div class="notice bad stack" role="alert">
      <strong>{title}</strong>
      <p>{message}</p>
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
