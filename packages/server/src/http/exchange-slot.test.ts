import type { IncomingMessage, ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { Exchange } from "./exchange.ts";
import { OwnerLimits } from "./owner-limits.ts";

const exchangeAt = (place: number | undefined) => {
  const incoming = { method: "GET" } as IncomingMessage;
  const exchange = new Exchange({
    incoming,
    outgoing: {} as ServerResponse,
    id: "req_1",
    route: "/v1/models",
    headers: {},
  });
  exchange.place = place;
  return exchange;
};

test("a slot is free again when its exchange ends", () => {
  const limits = new OwnerLimits({ requestsPerOwner: 1, bodyBytesPerOwner: 100 });
  const exchange = exchangeAt(0);
  exchange.occupy(limits.enter("ann"));
  expect(limits.usageOf("ann").requests).toBe(1);
  exchange.ended();
  expect(limits.usageOf("ann").requests).toBe(0);
});

test("a slot is free at once where the client left while it was authenticated", () => {
  const limits = new OwnerLimits({ requestsPerOwner: 1, bodyBytesPerOwner: 100 });
  exchangeAt(undefined).occupy(limits.enter("ann"));
  expect(limits.usageOf("ann").requests).toBe(0);
});
