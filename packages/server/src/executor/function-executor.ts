// Functions of the request: the client runs them, so a call of one ends the response.

import type { ToolExecutor } from "./executor.ts";

export const functionExecutor: ToolExecutor = {
  kind: "function",
  canExecute: ({ type }) => type === "function",
  execute: async ({ name }) => {
    throw new Error(`'${name}' is the client's function; the server does not run it.`);
  },
};
