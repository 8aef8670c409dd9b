// Errors of PostgreSQL and of the way to it, with advice, and without passwords.

import { StoreError, type StoreFault } from "../store-error.ts";

/** An error of the server has a SQLSTATE, one of the network a name such as `ECONNREFUSED`. */
interface CodedError extends Error {
  readonly code?: string;
}

type Fault = readonly [fault: StoreFault | undefined, advice: string];

/** By SQLSTATE, its class, or the name of a network error. */
const faults: Readonly<Record<string, Fault>> = {
  "08": ["unreachable", "The connection was lost"],
  "25006": ["read_only", "The database is read-only, as a standby is. Name the primary"],
  "28": [
    "denied",
    "The database does not accept this user. Check the user and the password in the store's URL",
  ],
  "3D000": ["denied", "The database does not exist. Create it, or name another one"],
  "42501": ["denied", "The role may not do this. Give it the rights on the database and the schema"],
  "53100": ["full", "The disk of the database is full. Make room on it"],
  "53300": [
    "no_connections",
    "The database has no connection left. Raise its max_connections, or lower postgres.connections",
  ],
  "53": ["full", "The database is out of resources"],
  "55P03": ["slow", "The database waits for a lock for too long"],
  "57014": ["slow", "The database took too long"],
  "57P": ["restarting", "The database is shut down, or starts"],
  "58": ["full", "The system of the database reports an error"],
  ECONNREFUSED: [
    "unreachable",
    "Nothing accepts connections at this address. Start the database, or correct the address",
  ],
  ENOTFOUND: ["unreachable", "The host of the database is not known. Correct the address"],
  EAI_AGAIN: ["unreachable", "The host of the database cannot be looked up now"],
};
const unreachable: Fault = ["unreachable", "The database cannot be reached"];
const slow: Fault = ["slow", "The database did not answer in time"];
const noneFree: Fault = [
  "no_connections",
  "No connection of this process was free. Raise postgres.connections",
];
const refused: Fault = [undefined, "The database has refused a statement"];

/** The network's errors, and the driver's own, which have no code. */
const lostMessages =
  /connection terminated|timeout|not queryable|client was closed|econn|epipe|etimedout|enotfound|eai_again|ehostunreach|enetunreach|socket/i;

/** Whether the database could not be reached or asked, and may be later: what was sent may or may not have been done. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = (error as CodedError).code ?? "";
  // 57014 is a query that was cancelled; 40 is a deadlock, which has done nothing.
  if (/^[0-9A-Z]{5}$/.test(code)) return /^(08|25006|53|55P03|57014|57P|58)/.test(code);
  return lostMessages.test(code) || lostMessages.test(error.message);
}

/** Whether the server has refused: nothing was done, and the same may succeed at once. */
export function isConflict(error: unknown): boolean {
  return error instanceof Error && /^(40|23505)/.test((error as CodedError).code ?? "");
}

/** Turns an error of the driver into a `StoreError` that names the place, which has no password. */
export function toStoreError(error: unknown, place: string): unknown {
  if (!(error instanceof Error) || error instanceof StoreError) return error;
  const { code = "" } = error as CodedError;
  const isKnown = code !== "" || isOutage(error) || isTlsError(error);
  if (!isKnown) return error;
  const [fault, reason] =
    faults[code] ?? faults[code.slice(0, 3)] ?? faults[code.slice(0, 2)] ?? withoutCode(error);
  // Not as its cause: the driver's errors have the parameters of the query, and what connects has the password.
  return new StoreError("unavailable", `${reason}: ${place} (PostgreSQL says: ${error.message}).`, { fault });
}

function withoutCode(error: Error): Fault {
  if (/timeout exceeded when trying to connect/i.test(error.message)) return noneFree;
  if (/query read timeout/i.test(error.message)) return slow;
  return isOutage(error) ? unreachable : refused;
}

function isTlsError(error: Error): boolean {
  return /ssl|tls|certificate|self.signed|scram|sasl|password/i.test(error.message);
}
