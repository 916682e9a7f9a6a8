import type { KubernetesObject } from "@kubewright/api";
import type { HeaderFields } from "@kubewright/transport";

import type { Frame } from "./storage/watcher.js";
import type { StoredObject } from "./storage/stored-object.js";

/** What a handler answers. It becomes decoded objects in process, and text over HTTP. */
export interface Reply {
  readonly status: number;
  readonly headers: HeaderFields;
  readonly body: ReplyBody;
}

export type ReplyBody =
  /** An object as it is stored: its JSON is made once and shared. */
  | { readonly type: "stored"; readonly stored: StoredObject }
  | { readonly type: "list"; readonly head: ListHead; readonly items: readonly StoredObject[] }
  | { readonly type: "value"; readonly value: unknown }
  | { readonly type: "text"; readonly text: string; readonly contentType: string }
  | { readonly type: "stream"; readonly stream: EventStream };

export interface ListHead {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: {
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
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
  toJson(frame: Frame): string;
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

/** The object a reply carries, or `undefined` when it carries none. */
export function replyValue(body: ReplyBody): unknown {
  switch (body.type) {
    case "stored":
      return body.stored.object;
    case "list":
      return { ...body.head, items: body.items.map((stored): KubernetesObject => stored.listItem) };
    case "value":
      return body.value;
    default:
      return undefined;
  }
}

/** The same as JSON text. */
export function replyJson(body: ReplyBody): string {
  if (body.type === "stored") return body.stored.json;
  if (body.type === "list") {
    const { kind, apiVersion, metadata } = body.head;
    const head = `{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},"metadata":${JSON.stringify(metadata)},"items":[`;
    return `${head}${body.items.map((stored) => stored.listItemJson).join(",")}]}`;
  }
  return JSON.stringify(replyValue(body));
}
