/** Shows that something is under way. Say what in text beside it. */
export function Spinner() {
  return <span class="spinner" aria-hidden="true" />;
}
