import { type Status, isStatus } from "@kubewright/api";
import type { ApiResponse, ResponseBody } from "@kubewright/transport";

import { StatusError } from "./errors.js";

/** The object a successful response carries. @throws StatusError for an HTTP status above 206, or a body that is not JSON. */
export async function decodeObject(response: ApiResponse): Promise<unknown> {
  const { body, status } = response;
  if (status > 206) throw await refusal(response);
  if (body.type === "decoded") return body.value;
  if (body.type === "events") throw new Error("the server answered with a stream where an object was expected");
  const text = await readText(body.chunks);
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    const what =
      text === ""
        ? `0-length response with status code: ${status}`
        : `the server's answer is not JSON: ${text.slice(0, 200)}`;
    throw new Error(what, { cause: error });
  }
}

/** The lines of a watch response, each as the JSON it is. @throws StatusError when the server refused to open the stream. */
export async function decodeEvents(response: ApiResponse): Promise<AsyncIterable<unknown>> {
  if (response.status > 206) throw await refusal(response);
  const { body } = response;
  if (body.type === "events") return body.events;
  if (body.type === "bytes") return parseLines(body.chunks);
  throw new Error("the server answered with an object where a stream was expected");
}

/**
 * Newline-delimited JSON. A chunk may end anywhere, also inside a UTF-8 sequence. What follows the last newline is a
 * line cut off with the connection, and dropped.
 */
export async function* parseLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<unknown> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of chunks) {
    const text = rest + decoder.decode(chunk, { stream: true });
    let from = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", from)) {
      const line = text.slice(from, end);
      from = end + 1;
      if (line.trim() !== "") yield parseEvent(line);
    }
    rest = text.slice(from);
  }
}

/** A frame that cannot be read becomes an ERROR event, as in client-go, so that readers have one way to fail. */
function parseEvent(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch (error) {
    const message = `unable to decode an event from the watch stream: ${(error as Error).message}`;
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
}

async function refusal(response: ApiResponse): Promise<StatusError> {
  const value = await readRefusal(response.body);
  const retryAfterSeconds = retryAfter(response);
  if (isStatus(value)) return new StatusError(value);
  const text = typeof value === "string" ? value.trim() : "";
  return new StatusError({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message:
      text !== ""
        ? text
        : (MESSAGE_BY_CODE[response.status] ??
          `the server responded with the status code ${response.status} but did not return more information`),
    details: {
      causes: [{ reason: "UnexpectedServerResponse", message: text.slice(0, 2048) || "unknown" }],
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    },
    code: response.status,
  });
}

async function readRefusal(body: ResponseBody): Promise<unknown> {
  if (body.type === "decoded") return body.value;
  if (body.type === "events") return undefined;
  const text = await readText(body.chunks);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** Upstream: apimachinery `errors.NewGenericServerResponse`. */
const MESSAGE_BY_CODE: Readonly<Record<number, string>> = {
  400: "the server rejected our request for an unknown reason",
  401: "the server has asked for the client to provide credentials",
  404: "the server could not find the requested resource",
  405: "the server does not allow this method on the requested resource",
  406: "the server was unable to respond with a content type that the client supports",
  409: "the server reported a conflict",
  422: "the server rejected our request due to an error in our request",
  429: "the server has received too many requests and has asked us to try again later",
  503: "the server is currently unable to handle the request",
  504: "the server was unable to return a response in the time allotted, but may still be processing the request",
};

/** Whole seconds of a `Retry-After` header; `undefined` when absent or not a number. */
export function retryAfter(response: Pick<ApiResponse, "headers">): number | undefined {
  const header = response.headers["retry-after"];
  return typeof header === "string" && /^\d+$/.test(header) ? Number(header) : undefined;
}

async function readText(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of chunks) text += decoder.decode(chunk, { stream: true });
  return text + decoder.decode();
}
