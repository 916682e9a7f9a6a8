import type { KubernetesObject } from "@kubewright/api";

/** JSON text. Long text is stored as byte chunks, so that a slow reader needs no copy of its own. */
export type JsonText = string | readonly Uint8Array[];

const LONG_CHARACTERS = 64 * 1024;
const PIECE_BYTES = 256 * 1024;
const encoder = new TextEncoder();

/**
 * One version of an object, shared by all readers. Immutable: a write creates a new instance. Caches the list item and
 * the JSON text on first use.
 */
export class StoredObject {
  #listItem: KubernetesObject | undefined;
  #members: JsonText | undefined;
  /**
   * Number of readers that have not sent the object yet, and whether it is retained only for them. Maintained by the
   * backlog.
   */
  holders = 0;
  isReplaced = false;
  /** `""` for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;

  constructor(
    readonly object: KubernetesObject,
    readonly resourceVersion: number,
    /** Approximate bytes that the object does not share with the previous version. */
    readonly size: number,
    /** Whether the shown object has defaults that are not stored: an update without other changes then still writes. */
    readonly hasUnstoredDefaults = false,
  ) {
    const { namespace = "", name = "" } = object.metadata;
    this.namespace = namespace;
    this.name = name;
  }

  /** Creates the result of a dry run. */
  static forDryRun(object: KubernetesObject): StoredObject {
    return new StoredObject(object, 0, 0);
  }

  /** The object without `apiVersion` and `kind`, as in typed lists. */
  get listItem(): KubernetesObject {
    if (this.#listItem === undefined) {
      const { apiVersion: _apiVersion, kind: _kind, ...rest } = this.object;
      this.#listItem = Object.isFrozen(this.object) ? Object.freeze(rest) : rest;
    }
    return this.#listItem;
  }

  /** Returns the whole object as JSON, with the given text before and after it. */
  json(before = "", after = ""): JsonText {
    const { apiVersion, kind } = this.object;
    const head = `${before}{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},`;
    const members = this.listItemJson;
    if (typeof members === "string") return head + members.slice(1) + after;
    const [first, ...rest] = members as readonly [Uint8Array, ...Uint8Array[]];
    return [encoder.encode(head), first.subarray(1), ...rest, ...(after === "" ? [] : [encoder.encode(after)])];
  }

  /** JSON text of {@link listItem}. */
  get listItemJson(): JsonText {
    return (this.#members ??= inPieces(JSON.stringify(this.listItem)));
  }

  /** Returns the same content with another resourceVersion: the object of a DELETED event. */
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
