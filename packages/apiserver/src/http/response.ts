import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip, gzip } from "node:zlib";
import { setImmediate } from "node:timers/promises";
import { promisify } from "node:util";

import { type ApiRequest, type ApiResponse, parseQuery, parseRequestUrl } from "@kubewright/transport";

import type { RequestBodyReader } from "./body.js";
import { type TextForm, formatValue, listPieces } from "../list-pieces.js";
import type { EventStream, ListBody, Reply } from "../reply.js";
import { ListReading } from "../storage/list-reading.js";
import type { JsonText } from "../storage/stored-object.js";
import { negotiate } from "../transform.js";

/** Longer responses are sent in chunks as the client reads them, and compressed if the client accepts it. */
const LONG_CHARACTERS = 128 * 1024;
const compress = promisify(gzip);
/** Large chunks, because each is compressed on another thread. */
const LONG_GZIP = { level: 1, chunkSize: 128 * 1024 };

/** A request and its response stream. */
export interface HttpExchange {
  readonly request: ApiRequest;
  /** The request's body, read or not. */
  readonly requestBody: RequestBodyReader;
  readonly outgoing: ServerResponse;
  /** Aborts when the connection is closed. */
  readonly closed: AbortSignal;
  /** Milliseconds after which a client is cut off that reads nothing of a long response or of an ended watch. */
  readonly stalledMs: number;
}

/** Sends a response, no faster than the client reads it. */
export async function sendReply(exchange: HttpExchange, reply: Reply | ApiResponse): Promise<void> {
  const { requestBody, outgoing } = exchange;
  const { body, status } = reply;
  for (const [name, value] of Object.entries(reply.headers)) outgoing.setHeader(name, headerBytes(value));
  requestBody.decideConnection();
  if (!outgoing.hasHeader("cache-control")) outgoing.setHeader("cache-control", "no-cache, private");
  outgoing.statusCode = status;
  switch (body.type) {
    case "stream":
      return sendStream(exchange, body.stream);
    case "bytes":
      for await (const chunk of body.chunks) await write(outgoing, chunk);
      return requestBody.finish();
    case "chunks":
      outgoing.setHeader("content-type", body.contentType);
      outgoing.flushHeaders();
      for await (const chunk of body.chunks) {
        await write(outgoing, chunk);
        if (outgoing.destroyed) return;
      }
      return requestBody.finish();
    case "events":
      outgoing.setHeader("content-type", "application/json");
      outgoing.flushHeaders();
      for await (const event of body.events) await write(outgoing, `${JSON.stringify(event)}\n`);
      return requestBody.finish();
    case "text":
      outgoing.setHeader("content-type", body.contentType);
      return sendText(exchange, body.text);
    case "binary":
      outgoing.setHeader("content-type", body.contentType);
      return sendText(exchange, [body.bytes]);
    default:
      return sendObject(exchange, body.type === "decoded" ? { type: "value", value: body.value } : body);
  }
}

const NON_ASCII = /[^\0-\x7f]/;

/** Header values are sent as UTF-8, as Go does; Node.js takes one character for each byte. */
function headerBytes(value: string | readonly string[]): string | string[] {
  if (typeof value !== "string") return value.map((each) => headerBytes(each) as string);
  return Buffer.from(value).toString("latin1");
}

async function sendObject(
  exchange: HttpExchange,
  body: Extract<Reply["body"], { type: "value" | "stored" | "list" }>,
): Promise<void> {
  const { request, outgoing } = exchange;
  const mediaType = negotiate(request.headers["accept"], true)?.mediaType ?? "application/json";
  if (!outgoing.hasHeader("content-type")) outgoing.setHeader("content-type", mediaType);
  const form = mediaType === "application/yaml" ? "yaml" : wantsPretty(request) ? "pretty" : "json";
  switch (body.type) {
    case "value":
      return sendText(exchange, formatValue(body.value, form));
    case "stored":
      return sendText(exchange, form === "json" ? body.stored.json() : formatValue(body.stored.object, form));
    case "list":
      return sendList(exchange, body, form);
    default:
      return body satisfies never;
  }
}

/** Sends a complete text. Shares chunks with other responses instead of copying them. */
async function sendText(exchange: HttpExchange, text: JsonText): Promise<void> {
  const { request, requestBody, outgoing } = exchange;
  if (typeof text === "string" && text.length <= LONG_CHARACTERS) return sendShort(exchange, text);
  if (acceptsGzip(request)) {
    setGzip(outgoing);
    return requestBody.finish(await compress(typeof text === "string" ? text : Buffer.concat(text), { level: 1 }));
  }
  const pieces = typeof text === "string" ? [Buffer.from(text)] : text;
  outgoing.setHeader(
    "content-length",
    pieces.reduce((sum, { byteLength }) => sum + byteLength, 0),
  );
  if (request.method !== "HEAD") {
    closeWhenStalled(exchange, () => true);
    for (const piece of pieces) await write(outgoing, piece);
  }
  requestBody.finish();
}

async function sendList(exchange: HttpExchange, list: ListBody, form: TextForm): Promise<void> {
  let taken = 0;
  const pieces = listPieces(list, form, () => taken++);
  let text = "";
  for (;;) {
    const next = pieces.next();
    if (next.done === true) {
      await sendText(exchange, text);
      return;
    }
    if (typeof next.value !== "string" || text.length + next.value.length > LONG_CHARACTERS) {
      await sendLong(exchange, list, prepend([text, next.value], pieces), () => taken);
      return;
    }
    text += next.value;
  }
}

async function sendLong(
  exchange: HttpExchange,
  { items, version, backlog }: ListBody,
  pieces: Iterable<JsonText>,
  taken: () => number,
): Promise<void> {
  const { request, requestBody, outgoing } = exchange;
  const reading = new ListReading({ items, version, backlog, onCutOff: () => outgoing.destroy() });
  closeWhenStalled(exchange, () => true);
  const chunks = function* () {
    for (const chunk of toChunks(pieces, acceptsGzip(request) ? 4 * LONG_CHARACTERS : LONG_CHARACTERS)) {
      reading.advanceTo(taken());
      yield chunk;
    }
  };
  try {
    if (acceptsGzip(request)) {
      setGzip(outgoing);
      const source = Readable.from(chunks(), { objectMode: true, highWaterMark: 1 });
      await pipeline(source, createGzip(LONG_GZIP), outgoing, { end: false });
      requestBody.finish();
      return;
    }
    for (const chunk of chunks()) {
      await write(outgoing, chunk);
      if (outgoing.destroyed) return;
      // Yields, so that a fast client does not block other requests.
      await setImmediate();
    }
    requestBody.finish();
  } finally {
    reading.end();
  }
}

function* prepend(first: readonly JsonText[], rest: Iterable<JsonText>): Generator<JsonText> {
  yield* first;
  yield* rest;
}

/** Joins short texts; yields long ones unchanged. */
function* toChunks(texts: Iterable<JsonText>, characters: number): Generator<string | Uint8Array> {
  let text = "";
  for (const next of texts) {
    if (typeof next === "string") {
      text += next;
      if (text.length <= characters) continue;
    }
    if (text !== "") yield text;
    text = "";
    if (typeof next !== "string") yield* next;
  }
  if (text !== "") yield text;
}

async function sendStream(exchange: HttpExchange, stream: EventStream): Promise<void> {
  const { requestBody, outgoing, closed } = exchange;
  if (closed.aborted) stream.abandon();
  closed.addEventListener("abort", () => stream.abandon(), { once: true });
  outgoing.setHeader("content-type", "application/json");
  outgoing.flushHeaders();
  closeWhenStalled(exchange, () => stream.closed);
  for (;;) {
    let text = "";
    let long: readonly Uint8Array[] = [];
    for (let frame = stream.poll(); frame !== undefined; frame = stream.poll()) {
      const json = stream.toJson(frame);
      if (typeof json === "string") text += json;
      else long = json;
      if (long.length > 0 || text.length > LONG_CHARACTERS) break;
    }
    if (text !== "") await write(outgoing, text);
    for (const piece of long) await write(outgoing, piece);
    if (text !== "" || long.length > 0) continue;
    if (stream.closed) break;
    await stream.ready();
  }
  requestBody.finish();
}

/** Closes the connection when the client reads nothing for a while, if `isEnding()`. */
function closeWhenStalled({ outgoing, stalledMs }: HttpExchange, isEnding: () => boolean): void {
  outgoing.setTimeout(stalledMs, () => {
    if (isEnding()) outgoing.destroy();
    else outgoing.setTimeout(stalledMs);
  });
}

/** Waits while the client is behind, so that unread data stays where the backlog counts it. */
async function write(outgoing: ServerResponse, chunk: string | Uint8Array): Promise<void> {
  if (outgoing.destroyed || outgoing.write(chunk)) return;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      outgoing.off("drain", done);
      outgoing.off("close", done);
      resolve();
    };
    outgoing.once("drain", done);
    outgoing.once("close", done);
  });
}

function sendShort({ request, requestBody, outgoing }: HttpExchange, text: string): void {
  outgoing.setHeader("content-length", Buffer.byteLength(text));
  if (request.method === "HEAD") return requestBody.finish();
  // Node.js joins headers with a text and encodes both as UTF-8, which encodes these bytes again.
  requestBody.finish(NON_ASCII.test(String(outgoing.getHeader("warning"))) ? Buffer.from(text) : text);
}

/** Upstream: apiserver `handlers/responsewriters` negotiateContentEncoding, which ignores quality values. */
function acceptsGzip({ headers }: ApiRequest): boolean {
  return String(headers["accept-encoding"] ?? "")
    .split(",")
    .some((coding) => coding.trim() === "gzip");
}

function setGzip(outgoing: ServerResponse): void {
  outgoing.setHeader("content-encoding", "gzip");
  outgoing.appendHeader("vary", "Accept-Encoding");
}

function wantsPretty({ path, headers }: ApiRequest): boolean {
  const asked = path.includes("pretty") ? parseQuery(parseRequestUrl(path)?.query ?? "").get("pretty") : "";
  if (asked) return asked === "1" || asked.toLowerCase() === "true";
  return /^(curl|Wget|Mozilla\/5\.0)/.test(String(headers["user-agent"] ?? ""));
}
