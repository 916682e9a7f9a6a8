import type { Status } from "@kubewright/api";
import { expect, test } from "vitest";

import {
  StatusError,
  errorMessage,
  hasStatusCause,
  isAlreadyExists,
  isConflict,
  isConnectionLost,
  isConnectionRefused,
  isNotFound,
  isResourceExpired,
  isTooLargeResourceVersion,
  reasonOf,
} from "./errors.js";

function refused(code: number, rest: Partial<Status> = {}): StatusError {
  return new StatusError({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", code, ...rest });
}

test("the reason decides, and the code only where there is no reason", () => {
  expect(isAlreadyExists(refused(409, { reason: "AlreadyExists" }))).toBe(true);
  expect(isConflict(refused(409, { reason: "AlreadyExists" }))).toBe(false);
  expect(isConflict(refused(409))).toBe(true);
  expect(isNotFound(refused(404, { reason: "" }))).toBe(true);
  expect(reasonOf(refused(418))).toBe("");
  expect(reasonOf(new Error("x"))).toBeUndefined();
});

test("a resourceVersion is expired for both of the reasons servers give", () => {
  expect(
    [refused(410, { reason: "Expired" }), refused(410, { reason: "Gone" }), refused(410), refused(404)].map(
      isResourceExpired,
    ),
  ).toEqual([true, true, true, false]);
});

test("a too large resourceVersion is recognised by its cause, or by the text of old servers", () => {
  const message = "Too large resource version: 9, current: 8";
  expect(
    isTooLargeResourceVersion(
      refused(504, { reason: "Timeout", details: { causes: [{ reason: "ResourceVersionTooLarge" }] } }),
    ),
  ).toBe(true);
  expect(isTooLargeResourceVersion(refused(504, { reason: "Timeout", message }))).toBe(true);
  expect(isTooLargeResourceVersion(refused(504, { reason: "Timeout", message: "slow" }))).toBe(false);
  expect(isTooLargeResourceVersion(refused(500, { message }))).toBe(false);
});

test("causes are found by type", () => {
  const error = refused(403, { reason: "Forbidden", details: { causes: [{ reason: "NamespaceTerminating" }] } });
  expect(hasStatusCause(error, "NamespaceTerminating")).toBe(true);
  expect(hasStatusCause(error, "Other")).toBe(false);
});

test("connection errors are recognised anywhere in the chain of causes", () => {
  const code = (value: string): Error => Object.assign(new Error(value), { code: value });
  const wrapped = (error: Error): Error => new Error("outer", { cause: new Error("inner", { cause: error }) });
  expect(isConnectionRefused(wrapped(code("ECONNREFUSED")))).toBe(true);
  expect(
    isConnectionRefused(new Error("both", { cause: new AggregateError([code("EHOSTUNREACH"), code("ECONNREFUSED")]) })),
  ).toBe(true);
  expect(isConnectionRefused(wrapped(code("ENOTFOUND")))).toBe(false);
  expect(isConnectionLost(wrapped(code("ECONNRESET")))).toBe(true);
  expect(isConnectionLost(wrapped(code("ECONNREFUSED")))).toBe(false);
  expect(isConnectionLost(wrapped(code("UND_ERR_HEADERS_TIMEOUT")))).toBe(true);
  expect(isConnectionLost(wrapped(Object.assign(code("ETIMEDOUT"), { syscall: "read" })))).toBe(true);
  expect(isConnectionLost(wrapped(Object.assign(code("ETIMEDOUT"), { syscall: "connect" })))).toBe(false);
});

test("an error's line joins the messages of its causes without saying anything twice", () => {
  const cause = new Error("connect ECONNREFUSED 127.0.0.1:1");
  expect(
    errorMessage(
      new Error("list pods", {
        cause: new Error("GET http://127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1", { cause }),
      }),
    ),
  ).toBe("list pods: GET http://127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1");
  expect(errorMessage("just text")).toBe("just text");
  expect(errorMessage(new TypeError(""))).toBe("TypeError");
});
