import { type ResourceDefinition, type Status, isStatus, qualifiedResource } from "@kubewright/api";
import type { ApiRequest, ApiResponse, ResponseBody } from "@kubewright/transport";

import { ByteBuffer } from "./byte-buffer.js";
import { REASON_BY_CODE, StatusError } from "./errors.js";
import { limits, tooLongError } from "./limits.js";
import { ListReader } from "./list-reader.js";

/** The request of a response, for error messages. */
export interface RequestInfo {
  readonly method: ApiRequest["method"];
  /** Path without the query. */
  readonly path: string;
  /** Absent for a literal path. */
  readonly definition?: ResourceDefinition;
  readonly name?: string | undefined;
}

/**
 * Returns the object of a successful response. Returns a promise only if the body has to be read; an in-process
 * response is decoded already.
 *
 * @throws StatusError for an HTTP status above 206; Error for a body that is not JSON, or longer than {@link
 * limits}.response.
 */
export function decodeObject(response: ApiResponse, requestInfo: RequestInfo): unknown {
  const { body, status } = response;
  return status <= 206 && body.type === "decoded" ? body.value : readObject(response, requestInfo);
}

async function readObject(response: ApiResponse, requestInfo: RequestInfo): Promise<unknown> {
  const { body, status } = response;
  if (status > 206) throw await errorOf(response, requestInfo);
  if (body.type === "decoded") return body.value;
  if (body.type === "events") throw new Error("the server answered with a stream where an object was expected");
  return requireSuccess(parse(await readAll(body.chunks), status, requestInfo));
}

/**
 * Returns the list of a successful response.
 *
 * @param mapItem - Called with each item as soon as it has arrived. Its result replaces the item. Default: the item
 * itself.
 * @throws as {@link decodeObject}, but for a longer list or an item that is too long; and the errors of `mapItem`.
 */
export function decodeList(
  response: ApiResponse,
  requestInfo: RequestInfo,
  mapItem?: (item: unknown) => unknown,
): unknown {
  const { body } = response;
  if (mapItem === undefined && body.type !== "bytes") return decodeObject(response, requestInfo);
  return readList(response, requestInfo, mapItem ?? ((item) => item));
}

async function readList(
  response: ApiResponse,
  requestInfo: RequestInfo,
  mapItem: (item: unknown) => unknown,
): Promise<unknown> {
  const { body, status } = response;
  if (status > 206 || body.type !== "bytes") {
    const list = await decodeObject(response, requestInfo);
    const items = (list as { readonly items?: unknown } | null)?.items;
    return Array.isArray(items) ? { ...(list as object), items: items.map(mapItem) } : list;
  }
  const reader = new ListReader((text) => parse(text, status, requestInfo), mapItem);
  let bytes = 0;
  for await (const chunk of body.chunks) {
    bytes += chunk.length;
    if (bytes > limits.list) throw tooLongError("the list", limits.list);
    reader.push(chunk);
  }
  return requireSuccess(reader.end());
}

/** Returns the value. @throws StatusError for a failure Status with a success code. Upstream: rest.Result.Into. */
function requireSuccess(value: unknown): unknown {
  if (isFailure(value)) throw new StatusError(value);
  return value;
}

function parse(text: string, status: number, { method, path }: RequestInfo): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    const what =
      text === ""
        ? `0-length response with status code: ${status} (${method} ${path})`
        : `the server's answer to ${method} ${path} is not JSON: ${text.slice(0, 200)}`;
    throw new Error(what, { cause: error });
  }
}

/**
 * Returns the events of a watch response as parsed JSON. @throws StatusError when the server refuses to open the
 * stream.
 */
export async function decodeEvents(response: ApiResponse, requestInfo: RequestInfo): Promise<AsyncIterable<unknown>> {
  if (response.status > 206) throw await errorOf(response, requestInfo);
  const { body } = response;
  if (body.type === "events") return body.events;
  if (body.type === "bytes") return parseLines(body.chunks);
  throw new Error("the server answered with an object where a stream was expected");
}

const NEWLINE = 0x0a;

/**
 * Parses newline-delimited JSON. A chunk can end anywhere, also inside a UTF-8 sequence. Bytes after the last newline
 * belong to a line that the connection cut off, and are dropped. A line longer than {@link limits}.event becomes an
 * ERROR event and ends the stream.
 */
export async function* parseLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<unknown> {
  const line = new ByteBuffer(limits.event, eventTooLongError);
  const decoder = new TextDecoder();
  try {
    for await (const chunk of chunks) {
      const last = chunk.lastIndexOf(NEWLINE);
      let from = 0;
      if (last >= 0 && line.length > 0) {
        from = chunk.indexOf(NEWLINE) + 1;
        line.append(chunk.subarray(0, from));
        yield* parseCompleteLines(decoder.decode(line.take()));
      }
      // Decoding all complete lines together is faster than line by line.
      if (from <= last) yield* parseCompleteLines(decoder.decode(chunk.subarray(from, last + 1)));
      if (last + 1 < chunk.length) line.append(chunk.subarray(last + 1));
    }
  } catch (error) {
    if (!(error instanceof EventTooLongError)) throw error;
    yield decodingError(error);
  }
}

/** @param text - Complete lines. */
function* parseCompleteLines(text: string): Generator<unknown> {
  let from = 0;
  for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", from)) {
    if (end - from > limits.event) throw eventTooLongError();
    const line = text.slice(from, end);
    from = end + 1;
    if (line.trim() !== "") yield parseEvent(line);
  }
}

class EventTooLongError extends Error {}

/** Upstream: ErrObjectTooLarge. */
function eventTooLongError(): EventTooLongError {
  return new EventTooLongError(`object to decode was longer than maximum allowed size, ${limits.event / 2 ** 20} MiB`);
}

function parseEvent(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch (error) {
    return decodingError(error as Error);
  }
}

/**
 * Converts a line that cannot be decoded to an ERROR event, as in client-go, so that readers handle one kind of
 * failure.
 */
function decodingError(error: Error): object {
  const message = `unable to decode an event from the watch stream: ${error.message}`;
  const status: Status = {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message,
    reason: "InternalError",
    details: { causes: [{ reason: "ClientWatchDecoding", message }] },
    code: 500,
  };
  return { type: "ERROR", object: status };
}

/**
 * Returns the Status from the response body, or one created from the HTTP code (upstream: apimachinery
 * `errors.NewGenericServerResponse`).
 */
async function errorOf(response: ApiResponse, requestInfo: RequestInfo): Promise<StatusError> {
  const value = await readErrorBody(response.body);
  const { status: code } = response;
  if (isFailure(value))
    return new StatusError(withRequestNamed(typeof value.code === "number" ? value : { ...value, code }, requestInfo));
  const text = typeof value === "string" ? value.slice(0, MAX_ERROR_TEXT_LENGTH).trim() : "";
  const reason =
    code === 409 && requestInfo.method === "POST"
      ? "AlreadyExists"
      : (REASON_BY_CODE[code] ?? (code > 500 ? "InternalError" : undefined));
  const retryAfterSeconds = retryAfter(response);
  const { definition, name } = requestInfo;
  return new StatusError({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: `${genericMessage(code, text)} (${describeRequest(requestInfo, code)})`,
    ...(reason === undefined ? {} : { reason }),
    details: {
      ...(definition === undefined ? {} : { group: definition.group, kind: definition.resource }),
      ...(name === undefined ? {} : { name }),
      causes: [{ reason: "UnexpectedServerResponse", message: text || "unknown" }],
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    },
    code,
  });
}

/**
 * Adds the request to a generic 404 or 405 message, which does not name the resource. client-go leaves the message
 * unchanged.
 */
function withRequestNamed(status: Status, requestInfo: RequestInfo): Status {
  const { code, message } = status;
  const lacksResource = CODES_WITHOUT_RESOURCE.has(code) && message === MESSAGE_BY_CODE[code];
  return lacksResource ? { ...status, message: `${message} (${describeRequest(requestInfo, code)})` } : status;
}

/** Codes that can mean a wrong kind or path. */
const CODES_WITHOUT_RESOURCE: ReadonlySet<number> = new Set([404, 405]);

/** Describes a request, such as `get widgets.example.com w`. */
function describeRequest({ method, path, definition, name }: RequestInfo, code: number): string {
  const verb = method.toLowerCase();
  if (definition === undefined) return `${verb} ${path}`;
  const what = [verb, qualifiedResource(definition), ...(name === undefined ? [] : [name])].join(" ");
  return CODES_WITHOUT_RESOURCE.has(code) ? `${what}: kind ${definition.kind} at ${path}` : what;
}

/** Maximum characters of a body that is not a Status. Upstream: maxUnstructuredResponseTextBytes. */
const MAX_ERROR_TEXT_LENGTH = 2048;

function isFailure(value: unknown): value is Status {
  return isStatus(value) && value.status !== "Success";
}

function genericMessage(code: number, text: string): string {
  const message = MESSAGE_BY_CODE[code];
  if (message !== undefined) return message;
  if (code >= 500)
    return `an error on the server (${JSON.stringify(text || "unknown")}) has prevented the request from succeeding`;
  if (TEXT_IS_MESSAGE.has(code) && text !== "") return text;
  if (code === 406) return "the server was unable to respond with a content type that the client supports";
  return `the server responded with the status code ${code} but did not return more information`;
}

async function readErrorBody(body: ResponseBody): Promise<unknown> {
  if (body.type === "decoded") return body.value;
  if (body.type === "events") return undefined;
  const text = await readPrefix(body.chunks);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** Codes for which a plain-text body is the message. */
const TEXT_IS_MESSAGE: ReadonlySet<number> = new Set([403, 406, 415]);

const MESSAGE_BY_CODE: Readonly<Record<number, string>> = {
  400: "the server rejected our request for an unknown reason",
  401: "the server has asked for the client to provide credentials",
  404: "the server could not find the requested resource",
  405: "the server does not allow this method on the requested resource",
  409: "the server reported a conflict",
  422: "the server rejected our request due to an error in our request",
  429: "the server has received too many requests and has asked us to try again later",
  503: "the server is currently unable to handle the request",
  504: "the server was unable to return a response in the time allotted, but may still be processing the request",
};

/** Returns the seconds of a `Retry-After` header; `undefined` if the header is absent or not a safe integer. */
export function retryAfter(response: Pick<ApiResponse, "headers">): number | undefined {
  const header = response.headers["retry-after"];
  const seconds = typeof header === "string" && /^\d+$/.test(header) ? Number(header) : NaN;
  return Number.isSafeInteger(seconds) ? seconds : undefined;
}

async function readAll(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const bytes = new ByteBuffer(limits.response, () => tooLongError("the server's answer", limits.response));
  for await (const chunk of chunks) bytes.append(chunk);
  return new TextDecoder().decode(bytes.take());
}

/** Reads an error body up to {@link limits}.errorBody bytes. */
async function readPrefix(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const bytes = new ByteBuffer(limits.errorBody, () => tooLongError("the refusal", limits.errorBody));
  for await (const chunk of chunks) {
    const remaining = limits.errorBody - bytes.length;
    bytes.append(chunk.subarray(0, remaining));
    if (chunk.length >= remaining) break;
  }
  return new TextDecoder().decode(bytes.take());
}
