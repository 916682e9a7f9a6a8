import type { KubernetesObject } from "@kubewright/api";

/** JSON text: as it is when it is short, else as bytes in pieces, of which a slow reader needs no copy of its own. */
export type JsonText = string | readonly Uint8Array[];

const LONG_CHARACTERS = 64 * 1024;
const PIECE_BYTES = 256 * 1024;
const encoder = new TextEncoder();

/**
 * One version of one object, as the store keeps it and everybody shares it. Its content never changes: a write makes a new
 * one. What it looks like in a list and as JSON is made once, when first asked for.
 */
export class StoredObject {
  #listItem: KubernetesObject | undefined;
  #members: JsonText | undefined;
  /** Readers that have yet to be sent it, and whether it is kept for them alone. Kept up by the backlog. */
  holders = 0;
  isReplaced = false;
  /** `""` for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;

  constructor(
    readonly object: KubernetesObject,
    readonly resourceVersion: number,
    /** Bytes of what it does not share with the version before, roughly. */
    readonly size: number,
    /** What is kept differs from what is shown: an update that changes nothing else still writes. */
    readonly hasUnstoredDefaults = false,
  ) {
    const { namespace = "", name = "" } = object.metadata;
    this.namespace = namespace;
    this.name = name;
  }

  /** What a dry run would have stored: it is shown as if it were. */
  static forDryRun(object: KubernetesObject): StoredObject {
    return new StoredObject(object, 0, 0);
  }

  /** The object without `apiVersion` and `kind`, as typed lists carry it. */
  get listItem(): KubernetesObject {
    if (this.#listItem === undefined) {
      const { apiVersion: _apiVersion, kind: _kind, ...rest } = this.object;
      this.#listItem = Object.isFrozen(this.object) ? Object.freeze(rest) : rest;
    }
    return this.#listItem;
  }

  /** The whole object as JSON, with something before and after it. */
  json(before = "", after = ""): JsonText {
    const { apiVersion, kind } = this.object;
    const head = `${before}{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},`;
    const members = this.listItemJson;
    if (typeof members === "string") return head + members.slice(1) + after;
    const [first, ...rest] = members as readonly [Uint8Array, ...Uint8Array[]];
    return [encoder.encode(head), first.subarray(1), ...rest, ...(after === "" ? [] : [encoder.encode(after)])];
  }

  /** {@link listItem} as JSON. */
  get listItemJson(): JsonText {
    return (this.#members ??= inPieces(JSON.stringify(this.listItem)));
  }

  /** The same content under another resourceVersion: what a watcher is told when it sees the object last. */
  withResourceVersion(resourceVersion: number): StoredObject {
    const object: KubernetesObject = {
      ...this.object,
      metadata: { ...this.object.metadata, resourceVersion: String(resourceVersion) },
    };
    if (Object.isFrozen(this.object)) Object.freeze(Object.freeze(object).metadata);
    return new StoredObject(object, resourceVersion, this.size);
  }
}

function inPieces(text: string): JsonText {
  if (text.length <= LONG_CHARACTERS) return text;
  const bytes = encoder.encode(text);
  const pieces: Uint8Array[] = [];
  for (let start = 0; start < bytes.byteLength; start += PIECE_BYTES)
    pieces.push(bytes.subarray(start, start + PIECE_BYTES));
  return pieces;
}
