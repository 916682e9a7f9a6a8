import type { HeaderFields } from "@kubewright/transport";

import type { Backlog } from "./storage/backlog.js";
import type { Frame } from "./storage/watcher.js";
import type { JsonText, StoredObject } from "./storage/stored-object.js";

/** Response of a handler. In-process clients receive decoded objects, HTTP clients text. */
export interface Reply {
  readonly status: number;
  readonly headers: HeaderFields;
  readonly body: ReplyBody;
}

export type ReplyBody =
  /** A stored object: its JSON is created once and shared. */
  | { readonly type: "stored"; readonly stored: StoredObject }
  | ListBody
  | { readonly type: "value"; readonly value: unknown }
  | { readonly type: "text"; readonly text: string; readonly contentType: string }
  | { readonly type: "binary"; readonly bytes: Uint8Array; readonly contentType: string }
  /** A stream of bytes, such as a log. */
  | { readonly type: "chunks"; readonly chunks: AsyncIterable<Uint8Array>; readonly contentType: string }
  | { readonly type: "stream"; readonly stream: EventStream };

/** A collection whose elements are converted one by one while it is sent. */
export interface ListBody {
  readonly type: "list";
  /** The list without its elements. */
  readonly head: ListHead;
  /** Name of the member that contains the elements; the last member of the output. */
  readonly member: "items" | "rows";
  readonly items: readonly StoredObject[];
  readonly toValue: (stored: StoredObject) => unknown;
  /** Returns an element as shared JSON. `undefined` when the JSON cannot be shared. */
  readonly toJson?: ((stored: StoredObject) => JsonText) | undefined;
  /** The store's resourceVersion of the list. */
  readonly version: number;
  /** Counts objects that are retained only for this list while it is sent. */
  readonly backlog: Backlog;
}

export interface ListHead {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: ListMetadata;
  readonly [member: string]: unknown;
}

export interface ListMetadata {
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
  readonly shardInfo?: { readonly selector: string };
}

/** An open watch. Call {@link poll}; when it returns nothing, wait for {@link ready}. */
export interface EventStream {
  poll(): Frame | undefined;
  ready(): Promise<void>;
  readonly closed: boolean;
  /** Ends the watch because the reader is gone. */
  abandon(): void;
  /** Returns the event in the shape that the client asked for. */
  toEvent(frame: Frame): WatchEventValue;
  /** Returns the event as JSON, shared between watchers that receive the stored object unchanged. */
  toJson(frame: Frame): JsonText;
}

export interface WatchEventValue {
  readonly type: string;
  readonly object: unknown;
}

export function valueReply(status: number, value: unknown, headers: HeaderFields = {}): Reply {
  return { status, headers, body: { type: "value", value } };
}

export function textReply(
  status: number,
  text: string,
  contentType = "text/plain; charset=utf-8",
  headers: HeaderFields = {},
): Reply {
  return { status, headers, body: { type: "text", text, contentType } };
}

export function bytesReply(status: number, bytes: Uint8Array, contentType: string, headers: HeaderFields = {}): Reply {
  return { status, headers, body: { type: "binary", bytes, contentType } };
}

export function chunksReply(chunks: AsyncIterable<Uint8Array>, contentType: string): Reply {
  return { status: 200, headers: {}, body: { type: "chunks", chunks, contentType } };
}

/** Returns the object of a reply; `undefined` when it has none. */
export function replyValue(body: ReplyBody): unknown {
  switch (body.type) {
    case "stored":
      return body.stored.object;
    case "list":
      return { ...body.head, [body.member]: body.items.map(body.toValue) };
    case "value":
      return body.value;
    default:
      return undefined;
  }
}
