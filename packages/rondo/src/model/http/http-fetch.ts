// HTTP on runtimes without Node: by their own `fetch`.

import type { HttpSend } from "./http.ts";
import { sendBy } from "./send-by.ts";

export const send: HttpSend = sendBy((url, init) => globalThis.fetch(url, init));
