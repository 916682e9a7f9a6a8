import { isDeepStrictEqual } from "node:util";

import {
  type CreatedObject,
  type DeepMutable,
  type DeepReadonly,
  type KubernetesObject,
  type List,
  type ResourceDefinition,
  apiVersionOf,
  isStatus,
  mutableCopy,
} from "@kubewright/api";
import {
  type ApplyPatch,
  type Client,
  type DeleteOptions,
  type ListOptions,
  type MergePatch,
  isNotFound,
} from "@kubewright/client";

import type { Cache } from "./cache.js";
import { mergePatched } from "./merge-patch.js";
import type { Applied, StatusPatch } from "./written-parts.js";

/** Identifies an object: any of its versions, or only its name. */
export interface ObjectName {
  readonly metadata: { readonly name?: string; readonly namespace?: string; readonly uid?: string };
}

/** Receives successful writes. */
export interface WriteListener {
  readonly wrote: (definition: ResourceDefinition, object: DeepReadonly<KubernetesObject>) => void;
  /** The object was deleted immediately: it had no finalizers. */
  readonly deleted: (definition: ResourceDefinition, object: ObjectName) => void;
}

export interface OperatorClientOptions {
  readonly client: Client;
  readonly cache: Cache;
  readonly isCached: (definition: ResourceDefinition) => boolean;
  /** Field manager of applied fields. */
  readonly fieldManager: string;
  readonly listener: WriteListener;
  readonly signal: AbortSignal;
}

type SubresourceOption = { readonly subresource?: string };

/** Result of {@link OperatorClient.createOrUpdate}. */
export interface CreatedOrUpdated<T extends KubernetesObject> {
  readonly object: T;
  readonly operation: "created" | "updated" | "unchanged";
}

/**
 * Sends the requests of one reconcile. The reconcile's signal aborts them, except writes in flight. The next reconcile
 * of the key waits until the cache shows these writes.
 *
 * `create`, `createOrUpdate`, `apply`, `update`, `updateStatus` and `patch` resolve with a copy of the stored object, which
 * the caller may change.
 *
 * Every method rejects with a `StatusError` of `@kubewright/client` when the API server refuses the request. If the
 * reconciler rethrows it, the reconcile is retried, for a conflict too.
 */
export class OperatorClient {
  /**
   * The underlying client, for other requests: pass your own signal. The next reconcile does not wait for its writes.
   */
  readonly plain: Client;
  readonly #cache: Cache;
  readonly #isCached: (definition: ResourceDefinition) => boolean;
  readonly #fieldManager: string;
  readonly #listener: WriteListener;
  readonly #signal: AbortSignal;

  constructor({ client, cache, isCached, fieldManager, listener, signal }: OperatorClientOptions) {
    this.plain = client;
    this.#cache = cache;
    this.#isCached = isCached;
    this.#fieldManager = fieldManager;
    this.#listener = listener;
    this.#signal = signal;
  }

  /**
   * Reads an object from the API server. For cached resources prefer the cache.
   *
   * @throws StatusError with reason `NotFound` when the object does not exist.
   */
  get<T extends KubernetesObject>(
    definition: ResourceDefinition<T>,
    name: string,
    namespace?: string,
  ): Promise<DeepReadonly<T>> {
    return this.plain.resource(definition).get(name, { namespace, signal: this.#signal });
  }

  /** Lists objects from the API server. */
  list<T extends KubernetesObject>(
    definition: ResourceDefinition<T>,
    options: Omit<ListOptions, "signal"> = {},
  ): Promise<DeepReadonly<List<T>>> {
    return this.plain.resource(definition).list({ ...options, signal: this.#signal });
  }

  /** Creates an object. Fields with defaults may be omitted, if the definition has an input type. */
  async create<T extends KubernetesObject, Input>(
    definition: ResourceDefinition<T, Input>,
    object: DeepReadonly<CreatedObject<T, NoInfer<Input>>>,
  ): Promise<T> {
    return this.#create<T>(definition, object as unknown as DeepReadonly<T>);
  }

  /** Replaces an object. Fails with a conflict when the object has changed since it was read. */
  async update<T extends KubernetesObject>(definition: ResourceDefinition<T>, object: DeepReadonly<T>): Promise<T> {
    return this.#wrote(definition, await this.plain.resource(definition).update(object, this.#options()));
  }

  /** Replaces an object's status. Fails with a conflict when the object has changed since it was read. */
  async updateStatus<T extends KubernetesObject>(
    definition: ResourceDefinition<T>,
    object: DeepReadonly<T>,
  ): Promise<T> {
    return this.#wrote(definition, await this.plain.resource(definition).updateStatus(object, this.#options()));
  }

  /**
   * Patches an object by a JSON merge patch. Overwrites concurrent changes, unless the patch contains
   * `metadata.resourceVersion`. For the status use {@link patchStatus}.
   */
  async patch<T extends KubernetesObject>(
    definition: ResourceDefinition<T>,
    { metadata: { name = "", namespace } }: ObjectName,
    body: MergePatch<T>,
    { subresource }: SubresourceOption = {},
  ): Promise<T> {
    const options = { ...this.#options(), namespace, ...(subresource === undefined ? {} : { subresource }) };
    const patched = await this.plain.resource(definition).patch(name, { type: "merge", body }, options);
    return this.#wrote(definition, patched);
  }

  /**
   * Patches an object's status by a JSON merge patch. Sends nothing and returns the object when the patch changes
   * nothing.
   */
  async patchStatus<T extends KubernetesObject>(
    definition: ResourceDefinition<T>,
    object: DeepReadonly<T>,
    status: StatusPatch<T>,
  ): Promise<DeepReadonly<T>> {
    const { status: current } = object as { readonly status?: unknown };
    if (isDeepStrictEqual(mergePatched(current, status), current)) return object;
    const body = { status } as unknown as MergePatch<T>;
    return this.patch(definition, object, body, { subresource: "status" }) as Promise<DeepReadonly<T>>;
  }

  /**
   * Applies a part of an object by server-side apply. Creates a missing object. The operator owns the applied fields;
   * fields that it applied before and omits now are removed.
   *
   * @param options.force - Take over fields of other managers. Default true, as recommended for controllers.
   */
  async apply<T extends KubernetesObject>(
    definition: ResourceDefinition<T>,
    object: Applied<T>,
    { force = true, subresource }: SubresourceOption & { readonly force?: boolean } = {},
  ): Promise<T> {
    const { name, namespace } = object.metadata;
    const fields: object = object;
    const body = { apiVersion: apiVersionOf(definition), kind: definition.kind, ...fields };
    const options = { ...this.#options(), namespace, force, ...(subresource === undefined ? {} : { subresource }) };
    return this.#wrote(
      definition,
      await this.plain
        .resource(definition)
        .patch(name, { type: "apply", body: body as unknown as ApplyPatch<T> }, options),
    );
  }

  /**
   * Creates or updates an object to the state that `desired` returns. Does nothing when that equals the current state.
   * Reads from the cache for cached resources.
   *
   * @param desired - Receives a modifiable copy of the object, or `undefined` when it does not exist.
   * @throws StatusError with reason `Conflict` or `AlreadyExists` when the cache was stale: a retry sees the newer
   * state.
   */
  async createOrUpdate<T extends KubernetesObject>(
    definition: ResourceDefinition<T>,
    { metadata: { name = "", namespace } }: ObjectName,
    desired: (current: DeepMutable<T> | undefined) => DeepReadonly<T>,
  ): Promise<CreatedOrUpdated<T>> {
    const current = await this.#find(definition, name, namespace);
    if (current === undefined)
      return { object: await this.#create(definition, desired(undefined)), operation: "created" };
    const wanted = desired(mutableCopy(current) as DeepMutable<T>);
    if (isDeepStrictEqual(wanted, current)) return { object: copyOf(current), operation: "unchanged" };
    return { object: await this.update(definition, wanted), operation: "updated" };
  }

  /**
   * Deletes an object with background propagation. Ignores a missing object.
   *
   * @param object - With a UID, only the object with this UID is deleted.
   */
  async delete<T extends KubernetesObject>(
    definition: ResourceDefinition<T>,
    object: ObjectName,
    options: Omit<DeleteOptions, "namespace" | "signal"> = {},
  ): Promise<void> {
    const { name = "", namespace, uid } = object.metadata;
    try {
      const answer = await this.plain.resource(definition).delete(name, {
        propagationPolicy: "Background",
        ...(uid === undefined ? {} : { preconditions: { uid } }),
        ...options,
        namespace,
        signal: this.#signal,
      });
      if (options.dryRun !== undefined) return;
      if (isStatus(answer)) this.#listener.deleted(definition, object);
      else this.#listener.wrote(definition, answer);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  /**
   * Adds finalizers to an object in one write, unless present. Fails with a conflict when the object has changed since it was read.
   */
  async addFinalizer<T extends KubernetesObject>(
    definition: ResourceDefinition<T>,
    object: DeepReadonly<T>,
    ...added: readonly string[]
  ): Promise<DeepReadonly<T>> {
    const { finalizers = [] } = object.metadata;
    const missing = added.filter((finalizer) => !finalizers.includes(finalizer));
    if (missing.length === 0) return object;
    return this.#setFinalizers(definition, object, [...finalizers, ...missing]);
  }

  /**
   * Removes a finalizer from an object. Ignores a missing finalizer or object.
   *
   * @returns The object without the finalizer.
   */
  async removeFinalizer<T extends KubernetesObject>(
    definition: ResourceDefinition<T>,
    object: DeepReadonly<T>,
    finalizer: string,
  ): Promise<DeepReadonly<T>> {
    const { finalizers = [] } = object.metadata;
    if (!finalizers.includes(finalizer)) return object;
    const left = finalizers.filter((each) => each !== finalizer);
    try {
      return await this.#setFinalizers(definition, object, left);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      return { ...object, metadata: { ...object.metadata, finalizers: left } };
    }
  }

  /** A merge patch replaces lists as a whole, so the patch contains the resourceVersion. */
  #setFinalizers<T extends KubernetesObject>(
    definition: ResourceDefinition<T>,
    object: DeepReadonly<T>,
    finalizers: readonly string[],
  ): Promise<DeepReadonly<T>> {
    const { resourceVersion } = object.metadata;
    const body = { metadata: { finalizers, resourceVersion } } as unknown as MergePatch<T>;
    return this.patch(definition, object, body) as Promise<DeepReadonly<T>>;
  }

  async #find<T extends KubernetesObject>(
    definition: ResourceDefinition<T>,
    name: string,
    namespace: string | undefined,
  ): Promise<DeepReadonly<T> | undefined> {
    if (this.#isCached(definition)) return this.#cache.get(definition, name, namespace);
    try {
      return await this.get(definition, name, namespace);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async #create<T extends KubernetesObject>(definition: ResourceDefinition<T>, object: DeepReadonly<T>): Promise<T> {
    return this.#wrote(definition, await this.plain.resource<T, unknown>(definition).create(object, this.#options()));
  }

  #wrote<T extends KubernetesObject>(definition: ResourceDefinition<T>, object: DeepReadonly<T>): T {
    this.#listener.wrote(definition, object);
    return copyOf(object);
  }

  #options(): { readonly fieldManager: string; readonly signal: AbortSignal } {
    return { fieldManager: this.#fieldManager, signal: this.#signal };
  }
}

/** In process, the API server and its clients share objects: the caller's own is a copy. */
function copyOf<T extends KubernetesObject>(object: DeepReadonly<T>): T {
  return mutableCopy(object) as T;
}
