// Requests for tests: read with the usual limits, or expected to be refused.

import { ApiError } from "../api-error.ts";
import {
  type CreateRequest,
  defaultLimits,
  type ParseOptions,
  parseCreateRequest,
} from "../create-request.ts";

const usual: ParseOptions = { limits: defaultLimits, isStrict: false };

/** Reads a body; the input is "Hi" unless it says otherwise. */
export function read(body: object, options: Partial<ParseOptions> = {}): CreateRequest {
  return parseCreateRequest({ input: "Hi", ...body }, { ...usual, ...options }).request;
}

/** The warnings that a body gives. */
export function warningsOf(body: object, options: Partial<ParseOptions> = {}): string[] {
  return parseCreateRequest({ input: "Hi", ...body }, { ...usual, ...options }).warnings;
}

/** The field and the message of the 400 that reading a body ends with. */
export function refusal(body: unknown, options: Partial<ParseOptions> = {}): [string | null, string] {
  try {
    parseCreateRequest(body, { ...usual, ...options });
  } catch (error) {
    if (error instanceof ApiError && error.status === 400 && error.type === "invalid_request_error")
      return [error.param, error.message];
    throw error;
  }
  throw new Error("Expected the request to be refused.");
}

/** The refusal of a body whose input is "Hi" unless it says otherwise. */
export function refusalOf(body: object, options: Partial<ParseOptions> = {}): [string | null, string] {
  return refusal({ input: "Hi", ...body }, options);
}
