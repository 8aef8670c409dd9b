// Where this server is, for programs: the address of the page itself, so that it also holds behind a proxy.

/** Such as `http://127.0.0.1:4500`, without a slash at the end. */
export function serverAddress(page: string = location.href): string {
  return new URL(".", page).href.replace(/\/$/, "");
}
