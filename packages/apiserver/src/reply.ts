import type { HeaderFields } from "@kubewright/transport";

import type { Backlog } from "./storage/backlog.js";
import type { Frame } from "./storage/watcher.js";
import type { JsonText, StoredObject } from "./storage/stored-object.js";

/** What a handler answers. It becomes decoded objects in process, and text over HTTP. */
export interface Reply {
  readonly status: number;
  readonly headers: HeaderFields;
  readonly body: ReplyBody;
}

export type ReplyBody =
  /** An object as it is stored: its JSON is made once and shared. */
  | { readonly type: "stored"; readonly stored: StoredObject }
  | ListBody
  | { readonly type: "value"; readonly value: unknown }
  | { readonly type: "text"; readonly text: string; readonly contentType: string }
  | { readonly type: "binary"; readonly bytes: Uint8Array; readonly contentType: string }
  /** What comes bit by bit, such as a log. */
  | { readonly type: "chunks"; readonly chunks: AsyncIterable<Uint8Array>; readonly contentType: string }
  | { readonly type: "stream"; readonly stream: EventStream };

/** A collection, of which an element is put into its form when it is its turn. */
export interface ListBody {
  readonly type: "list";
  /** All but the elements. */
  readonly head: ListHead;
  /** What the elements are in, behind everything else. */
  readonly member: "items" | "rows";
  readonly items: readonly StoredObject[];
  readonly toValue: (stored: StoredObject) => unknown;
  /** The same as JSON, where that is shared with others. */
  readonly toJson?: ((stored: StoredObject) => JsonText) | undefined;
  /** The store's version that the list is of. */
  readonly version: number;
  /** Where it is noted what is kept for this list alone, while it is sent. */
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

/** An open watch. Read with {@link poll}, and when that has nothing, wait for {@link ready}. */
export interface EventStream {
  poll(): Frame | undefined;
  ready(): Promise<void>;
  readonly closed: boolean;
  /** The reader has gone. */
  abandon(): void;
  /** The event as the client asked to see it. */
  toEvent(frame: Frame): WatchEventValue;
  /** The same as JSON; shared between watchers where the stored object is sent as it is. */
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

/** The object a reply carries, or `undefined` when it carries none. */
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
