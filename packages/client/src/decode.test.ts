import { type Status, defineResource } from "@kubewright/api";
import type { ApiResponse, ResponseBody } from "@kubewright/transport";
import { expect, test } from "vitest";

import { type RequestInfo, decodeEvents, decodeList, decodeObject, parseLines } from "./decode.js";
import { StatusError } from "./errors.js";
import { limits } from "./limits.js";

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

const widgets = defineResource({
  group: "example.com",
  version: "v1",
  resource: "widgets",
  kind: "Widget",
  namespaced: true,
});
const PATH = "/apis/example.com/v1/namespaces/default/widgets";
const asked: RequestInfo = { method: "GET", path: PATH, definition: widgets };

async function refusal(answer: ApiResponse, of: Partial<RequestInfo> = {}): Promise<Status> {
  const error = await Promise.resolve(decodeObject(answer, { ...asked, ...of })).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(StatusError);
  return (error as StatusError).status;
}

test("a decoded body is handed on as it is, without a copy", async () => {
  const value = { kind: "Pod", metadata: { name: "a" } };
  expect(await decodeObject(response(200, { type: "decoded", value }), asked)).toBe(value);
});

test("bytes are parsed as JSON, also when a chunk ends inside a UTF-8 sequence", async () => {
  const whole = new TextEncoder().encode('{"metadata":{"name":"grün-🚀"}}');
  for (let cut = 1; cut < whole.length; cut++) {
    const value = await decodeObject(response(201, bytes(whole.slice(0, cut), whole.slice(cut))), asked);
    expect(value).toEqual({ metadata: { name: "grün-🚀" } });
  }
});

test("an empty body and one that is not JSON are errors that say so", async () => {
  await expect(decodeObject(response(200, bytes()), asked)).rejects.toThrow("0-length response with status code: 200");
  await expect(decodeObject(response(200, bytes("<html>")), asked)).rejects.toThrow(
    `the server's answer to GET ${PATH} is not JSON: <html>`,
  );
});

test("a Status the server sent is the error, with its own reason and message", async () => {
  const status = {
    kind: "Status",
    status: "Failure",
    reason: "Conflict",
    message: "the object has been modified",
    code: 409,
  };
  expect(await refusal(response(409, bytes(JSON.stringify(status))), { method: "POST" })).toEqual(status);
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
  const status = await refusal(response(code, bytes(text)), { method: "PUT", name: "w" });
  const place = code === 404 || code === 405 ? `: kind Widget at ${PATH}` : "";
  expect(status).toMatchObject({
    status: "Failure",
    code,
    message: `${message} (put widgets.example.com w${place})`,
    details: { group: "example.com", kind: "widgets", name: "w" },
  });
  expect(status.reason).toBe(reason);
  expect(status.details?.causes).toEqual([{ reason: "UnexpectedServerResponse", message: text || "unknown" }]);
});

test("a server that does not say which resource it has not is quoted with the kind and the path", async () => {
  const message = "the server could not find the requested resource";
  const unknown = { kind: "Status", apiVersion: "v1", status: "Failure", reason: "NotFound", code: 404 };
  const send = (details: object) => response(404, bytes(JSON.stringify({ ...unknown, message, details })));
  expect(await refusal(send({}))).toMatchObject({
    message: `${message} (get widgets.example.com: kind Widget at ${PATH})`,
    details: {},
  });
  const raw = await Promise.resolve(decodeObject(send({}), { method: "GET", path: "/apis/nope" })).catch(
    (error: unknown) => error,
  );
  expect(raw).toMatchObject({ message: `${message} (get /apis/nope)` });
  // A more specific message is used unchanged, because Event texts repeat it.
  const other = { ...unknown, message: 'widgets.example.com "w" not found' };
  expect(await refusal(response(404, bytes(JSON.stringify(other))))).toEqual(other);
});

test("a 409 without explanation means that a POST found the object there already", async () => {
  expect((await refusal(response(409, bytes("taken")), { method: "POST" })).reason).toBe("AlreadyExists");
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
    await decodeEvents(response(200, bytes('{"type":"ADDED","object":{}}\n{"type":"ADDED","obj')), asked),
  );
  expect(events).toEqual([{ type: "ADDED", object: {} }]);
});

test("events before a broken line still arrive, and the broken line is an ERROR event", async () => {
  const events = await collect(
    await decodeEvents(response(200, bytes('{"type":"ADDED","object":{}}\n{oops}\n')), asked),
  );
  expect(events).toHaveLength(2);
  expect(events[1]).toMatchObject({
    type: "ERROR",
    object: { code: 500, reason: "InternalError", details: { causes: [{ reason: "ClientWatchDecoding" }] } },
  });
});

/** Returns an endless body that records when its reader stops. */
function endless(first: string, then: string | Uint8Array): { body: ResponseBody; ended: () => boolean } {
  let ended = false;
  const chunk = typeof then === "string" ? new TextEncoder().encode(then) : then;
  async function* chunks(): AsyncGenerator<Uint8Array> {
    try {
      yield new TextEncoder().encode(first);
      for (;;) yield chunk;
    } finally {
      ended = true;
    }
  }
  return { body: { type: "bytes", chunks: chunks() }, ended: () => ended };
}

const piece = new Uint8Array(2 ** 20).fill(0x78);

test("a line of nearly 16 MiB is read in time that grows with its length, however small its pieces", async () => {
  const [open, close] = ['{"type":"ADDED","object":"', '"}\n'].map((text) => new TextEncoder().encode(text));
  async function* chunks(size: number): AsyncGenerator<Uint8Array> {
    yield open!;
    for (let length = 0; length < 15 * 2 ** 20; length += size) yield piece.subarray(0, size);
    yield close!;
  }
  for (const size of [64, 2 ** 14]) {
    const [event] = (await collect(parseLines(chunks(size)))) as [{ object: string }];
    expect(event.object.length).toBe(15 * 2 ** 20);
  }
});

const TOO_LONG =
  "unable to decode an event from the watch stream: object to decode was longer than maximum allowed size, 16 MiB";

test("a line longer than 16 MiB is an ERROR event that says so, and the last; nothing more is read", async () => {
  const good = '{"type":"ADDED","object":{}}\n';
  const source = endless(`${good}{"type":"`, piece);
  const events = await collect(await decodeEvents(response(200, source.body), asked));
  expect(events).toMatchObject([
    { type: "ADDED" },
    { type: "ERROR", object: { kind: "Status", code: 500, reason: "InternalError", message: TOO_LONG } },
  ]);
  expect(source.ended()).toBe(true);
  const inOne = await collect(
    parseLines(asyncIterable([new Uint8Array(limits.event + 2).fill(0x78, 0, -1).fill(0x0a, -1)])),
  );
  expect(inOne).toMatchObject([{ type: "ERROR", object: { message: TOO_LONG } }]);
});

test("an answer that has no end fails, with the most that is read, and is not read on", async () => {
  const read = async (first: string, then: string | Uint8Array, decode: typeof decodeObject | typeof decodeList) => {
    const source = endless(first, then);
    const message = await Promise.resolve(decode(response(200, source.body), asked)).then(
      () => "none",
      (error: Error) => error.message,
    );
    return { message, ended: source.ended() };
  };
  expect(await read('{"a":"', piece, decodeObject)).toEqual({
    message: "the server's answer is longer than 64 MiB, the most that is read",
    ended: true,
  });
  expect(await read('{"items":[{"a":"', piece, decodeList)).toEqual({
    message: "an item of the list is longer than 16 MiB, the most that is read",
    ended: true,
  });
  const rest = { message: "the list, without its items, is longer than 16 MiB, the most that is read", ended: true };
  expect(await read('{"metadata":{"continue":"', piece, decodeList)).toEqual(rest);
  expect(await read('{"', piece, decodeList)).toEqual(rest);
  expect(await read('{"items":[1', ",1".repeat(2 ** 19), decodeList)).toEqual(rest);
});

test.skipIf(process.env["KUBEWRIGHT_HEAVY"] !== "1")(
  "a list may have a gigabyte, and no more",
  { timeout: 120_000 },
  async () => {
    const source = endless('{"items":[0', `,{"a":"${"x".repeat(2 ** 20)}"}`);
    const seen = { items: 0 };
    await expect(decodeList(response(200, source.body), asked, () => seen.items++)).rejects.toThrow(
      "the list is longer than 1024 MiB, the most that is read",
    );
    expect(seen.items).toBe(1023);
  },
);

test("of an endless error response only the first MiB is read, and its message is reported", async () => {
  const source = endless("<html>", piece);
  const status = await refusal(response(403, source.body));
  expect(source.ended()).toBe(true);
  expect(status).toMatchObject({ reason: "Forbidden", code: 403 });
  expect(status.message).toMatch(/^<html>x{2042} \(get widgets\.example\.com\)$/);
  expect(status.details!.causes![0]!.message!.length).toBe(2048);
});

test("a Status with parts of a wrong type is one without them", async () => {
  const sent = {
    kind: "Status",
    status: "Failure",
    message: { a: 1 },
    reason: 7,
    code: "x",
    details: { causes: 5, retryAfterSeconds: "y" },
  };
  const status = await refusal(response(503, bytes(JSON.stringify(sent))));
  expect(status).toEqual({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", code: 503 });
  for (const causes of [[null], [{ message: 5 }], { length: 1 }])
    expect(
      (await refusal(response(409, bytes(JSON.stringify({ ...sent, message: "m", details: { causes } }))))).details,
    ).toBeUndefined();
});

test("a refusal that is sent as a success is one all the same", async () => {
  const failed = { kind: "Status", status: "Failure", reason: "Conflict", message: "no", code: 409 };
  expect(await refusal(response(200, bytes(JSON.stringify(failed))))).toEqual(failed);
  expect(await decodeObject(response(200, bytes('{"kind":"Status","status":"Success"}')), asked)).toMatchObject({
    status: "Success",
  });
});

test.each(["1e3", "-1", "0x10", "9".repeat(400), "Wed, 21 Oct 2026 07:28:00 GMT"])(
  "a Retry-After of %j is none",
  async (header) => {
    const { details } = await refusal(response(429, bytes(), { "retry-after": header }));
    expect(details?.retryAfterSeconds).toBeUndefined();
  },
);

test("events that arrive decoded are handed on", async () => {
  const event = { type: "BOOKMARK", object: { metadata: { resourceVersion: "7" } } };
  expect(
    await collect(await decodeEvents(response(200, { type: "events", events: asyncIterable([event]) }), asked)),
  ).toEqual([event]);
});

test("a watch the server refuses rejects with the Status", async () => {
  const expired = {
    kind: "Status",
    status: "Failure",
    reason: "Expired",
    message: "too old resource version",
    code: 410,
  };
  await expect(decodeEvents(response(410, bytes(JSON.stringify(expired))), asked)).rejects.toMatchObject({
    status: expired,
  });
});
