import { SimulatedClock } from "@kubewright/clock";
import { silentLogger } from "@kubewright/controller";
import { expect, test } from "vitest";

import { request } from "../../test/operations-bench.js";
import type { Authentication } from "./authenticator.js";
import type { AccessDecision } from "./authorizer.js";
import { type HttpHandler, textReply } from "./http-message.js";
import { secured } from "./secured.js";

const JANE: Authentication = { user: { username: "jane<b>", groups: [] } };

function ask(
  given: { identity?: Authentication; decision?: AccessDecision | Error; inner?: HttpHandler; target?: string } = {},
) {
  const { identity = JANE, decision = { decision: "allowed", reason: "" } } = given;
  const handler = secured(given.inner ?? (async () => textReply(200, "ok")), {
    authenticator: { authenticate: async () => identity },
    authorizer: {
      authorize: async () => {
        if (decision instanceof Error) throw decision;
        return decision;
      },
    },
    clock: new SimulatedClock(),
    logger: silentLogger,
  });
  return handler(request(given.target ?? "/metrics"));
}

test("lets through who is allowed to, and forbids to keep the answer", async () => {
  expect(await ask()).toMatchObject({ status: 200, body: "ok", headers: { "cache-control": "no-cache, private" } });
});

test("case 38: says no with the exact words", async () => {
  const unauthorized = await ask({ identity: { error: "bad token" } });
  expect([unauthorized.status, JSON.parse(unauthorized.body)]).toEqual([
    401,
    {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: "Unauthorized",
      reason: "Unauthorized",
      code: 401,
    },
  ]);
  const anonymous = { user: { username: "system:anonymous", groups: ["system:unauthenticated"] } };
  const forbidden = await ask({ identity: anonymous, decision: { decision: "no-opinion", reason: "" } });
  expect([forbidden.status, JSON.parse(forbidden.body)]).toEqual([
    403,
    {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: 'forbidden: User "system:anonymous" cannot get path "/metrics"',
      reason: "Forbidden",
      details: {},
      code: 403,
    },
  ]);
  expect(forbidden.headers).toMatchObject({ "content-type": "application/json", "x-content-type-options": "nosniff" });
  const down = await ask({ decision: new Error("connect ECONNREFUSED") });
  expect([down.status, down.body]).toEqual([500, 'Internal Server Error: "/metrics": connect ECONNREFUSED\n']);
});

test("an answer never holds what could be read as HTML", async () => {
  const { body } = await ask({ decision: { decision: "denied", reason: "no" }, target: "/<script>" });
  expect(JSON.parse(body).message).toBe('forbidden: User "jane&lt;b&gt;" cannot get path "/&lt;script&gt;": no');
});

test("an endpoint that throws is a 500 without its reason", async () => {
  const reply = await ask({
    inner: async () => {
      throw new Error("secret");
    },
  });
  expect([reply.status, reply.body]).toEqual([
    500,
    "This request caused apiserver to panic. Look in the logs for details.\n",
  ]);
});
