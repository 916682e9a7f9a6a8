import type { Status } from "@kubewright/api";
import type { ApiResponse, ResponseBody } from "@kubewright/transport";
import { expect, test } from "vitest";

import { decodeEvents, decodeObject, parseLines } from "./decode.js";
import { StatusError } from "./errors.js";

function response(status: number, body: ResponseBody, headers: ApiResponse["headers"] = {}): ApiResponse {
  return { status, headers, body };
}

function bytes(...chunks: (string | Uint8Array)[]): ResponseBody {
  return {
    type: "bytes",
    chunks: asyncIterable(chunks.map((chunk) => (typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk))),
  };
}

async function* asyncIterable<T>(items: readonly T[]): AsyncIterable<T> {
  yield* items;
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const result: T[] = [];
  for await (const item of items) result.push(item);
  return result;
}

async function refusal(answer: ApiResponse, method?: "GET" | "POST" | "PUT"): Promise<Status> {
  const error = await Promise.resolve(decodeObject(answer, method)).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(StatusError);
  return (error as StatusError).status;
}

test("a decoded body is handed on as it is, without a copy", async () => {
  const value = { kind: "Pod", metadata: { name: "a" } };
  expect(await decodeObject(response(200, { type: "decoded", value }))).toBe(value);
});

test("bytes are parsed as JSON, also when a chunk ends inside a UTF-8 sequence", async () => {
  const whole = new TextEncoder().encode('{"metadata":{"name":"grün-🚀"}}');
  for (let cut = 1; cut < whole.length; cut++) {
    const value = await decodeObject(response(201, bytes(whole.slice(0, cut), whole.slice(cut))));
    expect(value).toEqual({ metadata: { name: "grün-🚀" } });
  }
});

test("an empty body and one that is not JSON are errors that say so", async () => {
  await expect(decodeObject(response(200, bytes()))).rejects.toThrow("0-length response with status code: 200");
  await expect(decodeObject(response(200, bytes("<html>")))).rejects.toThrow("the server's answer is not JSON: <html>");
});

test("a Status the server sent is the error, with its own reason and message", async () => {
  const status = {
    kind: "Status",
    status: "Failure",
    reason: "Conflict",
    message: "the object has been modified",
    code: 409,
  };
  expect(await refusal(response(409, bytes(JSON.stringify(status))), "POST")).toEqual(status);
  expect(await refusal(response(409, { type: "decoded", value: status }))).toEqual(status);
});

test.each([
  [400, "no", "BadRequest", "the server rejected our request for an unknown reason"],
  [401, "", "Unauthorized", "the server has asked for the client to provide credentials"],
  [403, "not you", "Forbidden", "not you"],
  [404, "404 page not found", "NotFound", "the server could not find the requested resource"],
  [405, "", "MethodNotAllowed", "the server does not allow this method on the requested resource"],
  [406, "", "NotAcceptable", "the server was unable to respond with a content type that the client supports"],
  [406, "only protobuf", "NotAcceptable", "only protobuf"],
  [409, "", "Conflict", "the server reported a conflict"],
  [415, "not yaml", "UnsupportedMediaType", "not yaml"],
  [
    418,
    "short and stout",
    undefined,
    "the server responded with the status code 418 but did not return more information",
  ],
  [422, "", "Invalid", "the server rejected our request due to an error in our request"],
  [429, "", "TooManyRequests", "the server has received too many requests and has asked us to try again later"],
  [500, "boom", "InternalError", 'an error on the server ("boom") has prevented the request from succeeding'],
  [502, "", "InternalError", 'an error on the server ("unknown") has prevented the request from succeeding'],
  [503, "upstream gone", "ServiceUnavailable", "the server is currently unable to handle the request"],
  [
    504,
    "",
    "Timeout",
    "the server was unable to return a response in the time allotted, but may still be processing the request",
  ],
])("a %i answered with text %j becomes a Status of reason %s", async (code, text, reason, message) => {
  const status = await refusal(response(code, bytes(text)), "PUT");
  expect(status).toMatchObject({ status: "Failure", code, message });
  expect(status.reason).toBe(reason);
  expect(status.details?.causes).toEqual([{ reason: "UnexpectedServerResponse", message: text || "unknown" }]);
});

test("a 409 without explanation means that a POST found the object there already", async () => {
  expect((await refusal(response(409, bytes("taken")), "POST")).reason).toBe("AlreadyExists");
});

test("a made-up Status keeps the Retry-After header", async () => {
  expect((await refusal(response(429, bytes(), { "retry-after": "7" }))).details?.retryAfterSeconds).toBe(7);
});

test("a line of a watch may be cut at any byte", async () => {
  const lines =
    '{"type":"ADDED","object":{"metadata":{"name":"ä🚀"}}}\n\n{"type":"DELETED","object":{"metadata":{"name":"b"}}}\r\n';
  const whole = new TextEncoder().encode(lines);
  for (let size = 1; size <= whole.length; size++) {
    const chunks: Uint8Array[] = [];
    for (let from = 0; from < whole.length; from += size) chunks.push(whole.slice(from, from + size));
    expect(await collect(parseLines(asyncIterable(chunks)))).toEqual([
      { type: "ADDED", object: { metadata: { name: "ä🚀" } } },
      { type: "DELETED", object: { metadata: { name: "b" } } },
    ]);
  }
});

test("a last line without its end was cut off with the connection, and is dropped", async () => {
  const events = await collect(
    await decodeEvents(response(200, bytes('{"type":"ADDED","object":{}}\n{"type":"ADDED","obj'))),
  );
  expect(events).toEqual([{ type: "ADDED", object: {} }]);
});

test("events before a broken line still arrive, and the broken line is an ERROR event", async () => {
  const events = await collect(await decodeEvents(response(200, bytes('{"type":"ADDED","object":{}}\n{oops}\n'))));
  expect(events).toHaveLength(2);
  expect(events[1]).toMatchObject({
    type: "ERROR",
    object: { code: 500, reason: "InternalError", details: { causes: [{ reason: "ClientWatchDecoding" }] } },
  });
});

test("events that arrive decoded are handed on", async () => {
  const event = { type: "BOOKMARK", object: { metadata: { resourceVersion: "7" } } };
  expect(await collect(await decodeEvents(response(200, { type: "events", events: asyncIterable([event]) })))).toEqual([
    event,
  ]);
});

test("a watch the server refuses rejects with the Status", async () => {
  const expired = {
    kind: "Status",
    status: "Failure",
    reason: "Expired",
    message: "too old resource version",
    code: 410,
  };
  await expect(decodeEvents(response(410, bytes(JSON.stringify(expired))))).rejects.toMatchObject({ status: expired });
});
