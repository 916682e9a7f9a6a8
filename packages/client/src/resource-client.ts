import {
  type CreatedObject,
  type DeepReadonly,
  type KubernetesObject,
  type List,
  type ResourceDefinition,
  type Status,
  type WatchEvent,
  apiVersionOf,
  qualifiedResource,
} from "@kubewright/api";
import type { ApiRequest, ApiResponse } from "@kubewright/transport";

import { type RequestInfo, decodeEvents, decodeList, decodeObject } from "./decode.js";
import type { Patch } from "./patch.js";
import { resourcePath, withQuery } from "./path.js";
import type { Requester } from "./requester.js";

interface CallOptions {
  readonly signal?: AbortSignal;
}

export interface GetOptions extends CallOptions {
  readonly namespace?: string | undefined;
  readonly resourceVersion?: string;
}

interface SelectionOptions extends CallOptions {
  /** Absent: all namespaces. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /**
   * Selects one shard, in the syntax of {@link formatShardSelector}. Servers without sharding return everything, and
   * their watches may too: {@link ShardReader} filters the result.
   */
  readonly shardSelector?: string | undefined;
  readonly resourceVersion?: string | undefined;
}

export interface ListOptions extends SelectionOptions {
  readonly resourceVersionMatch?: "Exact" | "NotOlderThan" | undefined;
  /** Maximum number of items of one page. */
  readonly limit?: number | undefined;
  readonly continue?: string | undefined;
}

/** The mapping of a list's items. */
export interface ItemMapping<T extends KubernetesObject> {
  /**
   * Called with each item as soon as it has arrived, so that dropped data is not held until the whole list has arrived.
   * An error it throws fails the list. Every {@link Reader} has to call it: the transforms of informers depend on it.
   */
  readonly mapItem?: ((item: DeepReadonly<T>) => DeepReadonly<T>) | undefined;
}

export interface WatchOptions extends SelectionOptions {
  readonly resourceVersionMatch?: "NotOlderThan" | undefined;
  readonly allowWatchBookmarks?: boolean;
  readonly sendInitialEvents?: boolean;
  readonly timeoutSeconds?: number;
}

export interface WriteOptions extends CallOptions {
  /** Default: the namespace in the object's metadata. */
  readonly namespace?: string | undefined;
  readonly fieldManager?: string;
  readonly fieldValidation?: "Ignore" | "Warn" | "Strict";
  readonly dryRun?: "All";
}

export interface DeleteOptions extends CallOptions {
  readonly namespace?: string | undefined;
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: "Background" | "Foreground" | "Orphan";
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly dryRun?: "All";
}

const PATCH_CONTENT_TYPES = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
} as const;

/** The read operations of one resource, for functions that only read. */
export interface Reader<T extends KubernetesObject> {
  readonly definition: ResourceDefinition<T>;
  /** @throws StatusError with reason `NotFound` if there is no such object. */
  get(name: string, options?: GetOptions): Promise<DeepReadonly<T>>;
  list(options?: ListOptions & ItemMapping<T>): Promise<DeepReadonly<List<T>>>;
  /** Resolves once the server has opened the stream. The stream ends when the server closes it or `signal` aborts. */
  watch(options?: WatchOptions): Promise<AsyncIterable<WatchEvent<DeepReadonly<T>>>>;
}

/**
 * The write operations of one resource. Every method resolves with the stored object, and rejects with a StatusError
 * for an error response.
 */
export interface Writer<T extends KubernetesObject, Input = unknown> {
  create(object: DeepReadonly<CreatedObject<T, Input>>, options?: WriteOptions): Promise<DeepReadonly<T>>;
  update(object: DeepReadonly<T>, options?: WriteOptions): Promise<DeepReadonly<T>>;
  patch(
    name: string,
    patch: Patch<T>,
    options?: WriteOptions & { readonly subresource?: string; readonly force?: boolean },
  ): Promise<DeepReadonly<T>>;
  /** Resolves with the object if it still exists (finalizers, grace period), otherwise with a Status. */
  delete(name: string, options?: DeleteOptions): Promise<DeepReadonly<T> | Status>;
}

/** The write operations of one resource's `status` subresource. */
export interface StatusWriter<T extends KubernetesObject> {
  updateStatus(object: DeepReadonly<T>, options?: WriteOptions): Promise<DeepReadonly<T>>;
}

/** What creates the readers of resources: a {@link Client}, or one that narrows what they read. */
export interface ReaderFactory {
  resource<T extends KubernetesObject>(definition: ResourceDefinition<T>): Reader<T>;
}

/** All operations of one resource. */
export class ResourceClient<T extends KubernetesObject, Input = unknown>
  implements Reader<T>, Writer<T, Input>, StatusWriter<T>
{
  readonly #requester: Requester;

  constructor(
    readonly definition: ResourceDefinition<T, Input>,
    requester: Requester,
  ) {
    this.#requester = requester;
  }

  async get(name: string, options: GetOptions = {}): Promise<DeepReadonly<T>> {
    const path = resourcePath(this.definition, { namespace: options.namespace, name });
    return this.#object(await this.#read(path, options, "PartialObjectMetadata"), this.#requestInfo("GET", path, name));
  }

  async list(options: ListOptions & ItemMapping<T> = {}): Promise<DeepReadonly<List<T>>> {
    const path = resourcePath(this.definition, { namespace: options.namespace });
    const response = await this.#read(path, options, "PartialObjectMetadataList");
    return (await decodeList(
      response,
      this.#requestInfo("GET", path),
      this.#itemMapper(options as ItemMapping<KubernetesObject>),
    )) as DeepReadonly<List<T>>;
  }

  async watch(options: WatchOptions = {}): Promise<AsyncIterable<WatchEvent<DeepReadonly<T>>>> {
    const { signal } = options;
    const collection = resourcePath(this.definition, { namespace: options.namespace });
    const path = withQuery(collection, { watch: true, ...options });
    const call = { method: "GET", path, watch: true, ...this.#acceptOption("PartialObjectMetadata") } as const;
    const response = await this.#requester.send({ ...call, ...signalOption(signal) });
    const events = (await decodeEvents(response, this.#requestInfo("GET", collection))) as AsyncIterable<
      WatchEvent<DeepReadonly<T>>
    >;
    return this.definition.metadataOnly === true ? withMetadataOnly(events) : events;
  }

  create(object: DeepReadonly<CreatedObject<T, Input>>, options: WriteOptions = {}): Promise<DeepReadonly<T>> {
    return this.#write("POST", object as unknown as DeepReadonly<T>, options);
  }

  update(object: DeepReadonly<T>, options: WriteOptions = {}): Promise<DeepReadonly<T>> {
    return this.#write("PUT", object, options);
  }

  updateStatus(object: DeepReadonly<T>, options: WriteOptions = {}): Promise<DeepReadonly<T>> {
    return this.#write("PUT", object, options, "status");
  }

  /**
   * Creates a subresource object, such as a pod's `binding` or `eviction`. Resolves with the server's response object.
   */
  async createSubresource(
    name: string,
    subresource: string,
    body: object,
    options: WriteOptions = {},
  ): Promise<unknown> {
    const path = resourcePath(this.definition, { namespace: options.namespace, name, subresource });
    const response = await this.#send("POST", path, options, JSON_TYPE, body);
    return decodeObject(response, this.#requestInfo("POST", path, name));
  }

  async patch(
    name: string,
    patch: Patch<T>,
    options: WriteOptions & { readonly subresource?: string; readonly force?: boolean } = {},
  ): Promise<DeepReadonly<T>> {
    const { namespace, subresource } = options;
    const path = resourcePath(this.definition, { namespace, name, subresource });
    const response = await this.#send("PATCH", path, options, PATCH_CONTENT_TYPES[patch.type], patch.body);
    return this.#object(response, this.#requestInfo("PATCH", path, name));
  }

  async delete(name: string, options: DeleteOptions = {}): Promise<DeepReadonly<T> | Status> {
    const path = resourcePath(this.definition, { namespace: options.namespace, name });
    const response = await this.#delete(path, {}, options);
    return (await decodeObject(response, this.#requestInfo("DELETE", path, name))) as DeepReadonly<T> | Status;
  }

  /**
   * Deletes every object that the selectors match, in one namespace or of a cluster-scoped resource.
   *
   * @returns The deleted objects, as they were listed.
   */
  async deleteCollection(
    options: DeleteOptions & Pick<ListOptions, "labelSelector" | "fieldSelector"> = {},
  ): Promise<DeepReadonly<List<T>>> {
    const { labelSelector, fieldSelector, ...rest } = options;
    const path = resourcePath(this.definition, { namespace: options.namespace });
    const response = await this.#delete(path, { labelSelector, fieldSelector }, rest);
    return (await decodeList(response, this.#requestInfo("DELETE", path))) as DeepReadonly<List<T>>;
  }

  #delete(
    path: string,
    selectors: object,
    { namespace: _namespace, signal, dryRun, ...options }: DeleteOptions,
  ): Promise<ApiResponse> {
    const body = {
      kind: "DeleteOptions",
      apiVersion: "v1",
      ...options,
      ...(dryRun === undefined ? {} : { dryRun: [dryRun] }),
    };
    return this.#send("DELETE", path, { ...selectors, ...signalOption(signal) }, JSON_TYPE, body);
  }

  async #write(
    method: "POST" | "PUT",
    object: DeepReadonly<T>,
    options: WriteOptions,
    subresource?: string,
  ): Promise<DeepReadonly<T>> {
    const { definition } = this;
    if (definition.metadataOnly === true)
      throw new Error(`cannot write ${qualifiedResource(definition)} by the metadata only: patch the object instead`);
    const { metadata } = object;
    const namespace = options.namespace ?? metadata.namespace;
    if (definition.namespaced && !namespace)
      throw new Error(`an empty namespace may not be set to write ${definition.resource}`);
    const name = method === "POST" ? undefined : (metadata.name ?? "");
    const path = resourcePath(definition, { namespace, name, subresource });
    const typed =
      object.kind !== undefined && object.apiVersion !== undefined
        ? object
        : { kind: definition.kind, apiVersion: apiVersionOf(definition), ...object };
    const response = await this.#send(method, path, options, JSON_TYPE, typed);
    return this.#object(response, this.#requestInfo(method, path, metadata.name));
  }

  /**
   * @param resource - The path of the resource. @param options - Options that are URL parameters are added to the
   * query.
   */
  #send(
    method: ApiRequest["method"],
    resource: string,
    options: CallOptions,
    contentType?: string,
    body?: unknown,
  ): Promise<ApiResponse> {
    const path = withQuery(resource, options);
    const { signal } = options;
    if (contentType === undefined) return this.#requester.send({ method, path, ...signalOption(signal) });
    const decoded = { type: "decoded", value: body } as const;
    return this.#requester.send(
      signal === undefined
        ? { method, path, contentType, body: decoded }
        : { method, path, contentType, body: decoded, signal },
    );
  }

  #read(resource: string, options: CallOptions, shape: PartialShape): Promise<ApiResponse> {
    const accept = this.#acceptOption(shape);
    if (accept === undefined) return this.#send("GET", resource, options);
    const path = withQuery(resource, options);
    return this.#requester.send({ method: "GET", path, ...accept, ...signalOption(options.signal) });
  }

  #acceptOption(shape: PartialShape): { readonly accept: string } | undefined {
    // The fallback is for servers that cannot transform: the client then drops the rest itself.
    return this.definition.metadataOnly === true
      ? { accept: `${JSON_TYPE};as=${shape};g=meta.k8s.io;v=v1,${JSON_TYPE}` }
      : undefined;
  }

  #itemMapper({ mapItem }: ItemMapping<KubernetesObject>): ItemMapper | undefined {
    if (this.definition.metadataOnly !== true) return mapItem as ItemMapper | undefined;
    const mapper = (item: DeepReadonly<KubernetesObject>): unknown => {
      const partial = metadataOf(item);
      return mapItem === undefined ? partial : mapItem(partial);
    };
    return mapper as ItemMapper;
  }

  /** @param name - Absent for the collection. */
  #requestInfo(method: ApiRequest["method"], path: string, name?: string): RequestInfo {
    return { method, path, definition: this.definition, name };
  }

  #object(...response: Parameters<typeof decodeObject>): DeepReadonly<T> | Promise<DeepReadonly<T>> {
    const object = decodeObject(...response) as DeepReadonly<T> | Promise<DeepReadonly<T>>;
    if (this.definition.metadataOnly !== true) return object;
    return Promise.resolve(object).then((full: DeepReadonly<KubernetesObject>) => metadataOf(full) as DeepReadonly<T>);
  }
}

type PartialShape = "PartialObjectMetadata" | "PartialObjectMetadataList";

/** Without `kind` and `apiVersion`, which are those of PartialObjectMetadata. A malformed object is left as it is. */
function metadataOf<T extends KubernetesObject>(object: DeepReadonly<T>): DeepReadonly<T> {
  const { metadata } = (object as Partial<DeepReadonly<KubernetesObject>> | null) ?? {};
  return metadata === undefined ? object : ({ metadata } as DeepReadonly<T>);
}

async function* withMetadataOnly<T extends KubernetesObject>(
  events: AsyncIterable<WatchEvent<DeepReadonly<T>>>,
): AsyncGenerator<WatchEvent<DeepReadonly<T>>, void> {
  for await (const event of events)
    yield event.type === "ERROR" ? event : { ...event, object: metadataOf(event.object) };
}

type ItemMapper = (item: unknown) => unknown;

const JSON_TYPE = "application/json";

function signalOption(signal: AbortSignal | undefined): { signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}
