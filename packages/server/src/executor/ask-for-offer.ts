// Asks one executor what it offers. One that fails or hangs breaks only requests that need it.

import { ApiError } from "../protocol/api-error.ts";
import { defaultOffer } from "./default-offer.ts";
import type { OfferRequest, ToolExecutor, ToolOffer } from "./executor.ts";

/** Rejects with an `ApiError` if the request has definitions of an executor that fails. */
export function askForOffer(
  executor: ToolExecutor,
  request: OfferRequest,
  timeoutMs: number | undefined,
): ToolOffer | Promise<ToolOffer> {
  try {
    const offer = executor.offer ? executor.offer(request) : defaultOffer(executor, request);
    if (!isPromise(offer)) return checkOffer(offer);
    return (timeoutMs === undefined ? offer : within(timeoutMs, offer))
      .then(checkOffer)
      .catch((error: unknown) => withoutOffer(executor, request, error));
  } catch (error) {
    // Not thrown here: the rejection of another executor that is being asked would then have no handler.
    return Promise.try(() => withoutOffer(executor, request, error));
  }
}

function isPromise(offer: ToolOffer | Promise<ToolOffer>): offer is Promise<ToolOffer> {
  return typeof offer === "object" && offer !== null && "then" in offer;
}

async function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`It did not answer within ${ms} ms.`)), ms);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

function checkOffer(offer: ToolOffer): ToolOffer {
  const { tools } = Object(offer) as Partial<ToolOffer>;
  const isTool = (it: unknown) => {
    const { tool, identity, items } = Object(it) as Partial<ToolOffer["tools"][number]>;
    return typeof tool?.wireName === "string" && typeof identity?.host === "string" && items !== undefined;
  };
  if (Array.isArray(tools) && tools.every(isTool)) return offer;
  throw new TypeError("It offers something else than { tools: [{ tool, identity, runsHere, items }] }.");
}

function withoutOffer({ kind }: ToolExecutor, { definitions }: OfferRequest, error: unknown): ToolOffer {
  if (error instanceof ApiError) throw error;
  const [first] = definitions;
  if (!first) return { tools: [], ignored: [`the executor '${kind}', which has failed: ${String(error)}`] };
  throw new ApiError(
    `The executor '${kind}', which has the tool '${first.definition.type}', has failed. The server's log says why.`,
    {
      status: 500,
      type: "server_error",
      code: "executor_failed",
      param: `tools[${first.index}]`,
      cause: error,
    },
  );
}
