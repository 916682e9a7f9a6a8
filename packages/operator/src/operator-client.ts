import { isDeepStrictEqual } from "node:util";

import {
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

/** Which object: one of its versions, or only its name. */
export interface ObjectName {
  readonly metadata: { readonly name?: string; readonly namespace?: string; readonly uid?: string };
}

/** What is told of writes that succeeded. */
export interface WriteListener {
  readonly wrote: (definition: ResourceDefinition, object: DeepReadonly<KubernetesObject>) => void;
  /** It is gone at once: nothing holds it back. */
  readonly deleted: (definition: ResourceDefinition, object: ObjectName) => void;
}

export interface OperatorClientOptions {
  readonly client: Client;
  readonly cache: Cache;
  readonly isCached: (definition: ResourceDefinition) => boolean;
  /** Owns the fields that are applied. */
  readonly fieldManager: string;
  readonly listener: WriteListener;
  readonly signal: AbortSignal;
}

type SubresourceOption = { readonly subresource?: string };

/** What became of {@link OperatorClient.createOrUpdate}. */
export interface CreatedOrUpdated<T extends KubernetesObject> {
  readonly object: DeepReadonly<T>;
  readonly operation: "created" | "updated" | "unchanged";
}

/**
 * Requests in the name of one reconcile: they end with its signal, but for writes that were begun, and the next reconcile
 * of its key waits until the cache shows what they wrote.
 *
 * Every method rejects with a `StatusError` of `@kubewright/client` when the API server refuses; a refusal that is thrown on
 * has the reconcile tried again, a conflict too.
 */
export class OperatorClient {
  /** The client underneath, for what there is no method of here: with a signal of yours, and nothing waits for its writes. */
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

  /** Asks the API server: what is cached is better read from the cache. @throws StatusError, reason `NotFound` when there is none. */
  get<T extends KubernetesObject>(
    definition: ResourceDefinition<T>,
    name: string,
    namespace?: string,
  ): Promise<DeepReadonly<T>> {
    return this.plain.resource(definition).get(name, { namespace, signal: this.#signal });
  }

  /** Asks the API server. */
  list<T extends KubernetesObject>(
    definition: ResourceDefinition<T>,
    options: Omit<ListOptions, "signal"> = {},
  ): Promise<DeepReadonly<List<T>>> {
    return this.plain.resource(definition).list({ ...options, signal: this.#signal });
  }

  async create<T extends KubernetesObject>(
    definition: ResourceDefinition<T>,
    object: DeepReadonly<T>,
  ): Promise<DeepReadonly<T>> {
    return this.#wrote(definition, await this.plain.resource(definition).create(object, this.#options()));
  }

  /** Replaces an object. Refused with a conflict when somebody has changed it since it was read. */
  async update<T extends KubernetesObject>(
    definition: ResourceDefinition<T>,
    object: DeepReadonly<T>,
  ): Promise<DeepReadonly<T>> {
    return this.#wrote(definition, await this.plain.resource(definition).update(object, this.#options()));
  }

  /** Replaces an object's status. Refused with a conflict when somebody has changed the object since it was read. */
  async updateStatus<T extends KubernetesObject>(
    definition: ResourceDefinition<T>,
    object: DeepReadonly<T>,
  ): Promise<DeepReadonly<T>> {
    return this.#wrote(definition, await this.plain.resource(definition).updateStatus(object, this.#options()));
  }

  /**
   * Changes parts of an object by a JSON merge patch. Whoever changed it meanwhile is not asked, unless the patch says
   * `metadata.resourceVersion`. For the status there is {@link patchStatus}.
   */
  async patch<T extends KubernetesObject>(
    definition: ResourceDefinition<T>,
    { metadata: { name = "", namespace } }: ObjectName,
    body: MergePatch<T>,
    { subresource }: SubresourceOption = {},
  ): Promise<DeepReadonly<T>> {
    const options = { ...this.#options(), namespace, ...(subresource === undefined ? {} : { subresource }) };
    const patched = await this.plain.resource(definition).patch(name, { type: "merge", body }, options);
    return this.#wrote(definition, patched);
  }

  /**
   * Changes parts of an object's status. Nothing is sent, and the object answered as it is, when it says all that already.
   */
  async patchStatus<T extends KubernetesObject>(
    definition: ResourceDefinition<T>,
    object: DeepReadonly<T>,
    status: StatusPatch<T>,
  ): Promise<DeepReadonly<T>> {
    const { status: current } = object as { readonly status?: unknown };
    if (isDeepStrictEqual(mergePatched(current, status), current)) return object;
    return this.patch(definition, object, { status } as unknown as MergePatch<T>, { subresource: "status" });
  }

  /**
   * Applies a part of an object on the server: it is made if there is none; the fields named become so and this operator's;
   * fields that it named before and does not any more are removed.
   *
   * @param options.force - Take fields from others who own them. Default true, as controllers should.
   */
  async apply<T extends KubernetesObject>(
    definition: ResourceDefinition<T>,
    object: Applied<T>,
    { force = true, subresource }: SubresourceOption & { readonly force?: boolean } = {},
  ): Promise<DeepReadonly<T>> {
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
   * Has an object be as `desired` makes it of what there is: creates it, updates it, or does nothing when that changes
   * nothing. Read from the cache where it is cached.
   *
   * @param desired - Is handed a copy that it may change, or `undefined` when there is none yet.
   * @throws StatusError, reason `Conflict` or `AlreadyExists`, when the cache was behind: the next try sees it.
   */
  async createOrUpdate<T extends KubernetesObject>(
    definition: ResourceDefinition<T>,
    { metadata: { name = "", namespace } }: ObjectName,
    desired: (current: DeepMutable<T> | undefined) => DeepReadonly<T>,
  ): Promise<CreatedOrUpdated<T>> {
    const current = await this.#find(definition, name, namespace);
    if (current === undefined)
      return { object: await this.create(definition, desired(undefined)), operation: "created" };
    const wanted = desired(mutableCopy(current) as DeepMutable<T>);
    if (isDeepStrictEqual(wanted, current)) return { object: current, operation: "unchanged" };
    return { object: await this.update(definition, wanted), operation: "updated" };
  }

  /**
   * Deletes an object, in the background. That there is none is no error.
   *
   * @param object - When it has a UID, only that very object is deleted.
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

  /** Puts a finalizer on an object, if it is not there. Refused with a conflict when somebody has changed it meanwhile. */
  async addFinalizer<T extends KubernetesObject>(
    definition: ResourceDefinition<T>,
    object: DeepReadonly<T>,
    finalizer: string,
  ): Promise<DeepReadonly<T>> {
    const { finalizers = [] } = object.metadata;
    if (finalizers.includes(finalizer)) return object;
    return this.#setFinalizers(definition, object, [...finalizers, finalizer]);
  }

  /** Takes a finalizer off an object. That it, or the object, is not there is no error. */
  async removeFinalizer<T extends KubernetesObject>(
    definition: ResourceDefinition<T>,
    object: DeepReadonly<T>,
    finalizer: string,
  ): Promise<void> {
    const { finalizers = [] } = object.metadata;
    if (!finalizers.includes(finalizer)) return;
    try {
      const left = finalizers.filter((each) => each !== finalizer);
      await this.#setFinalizers(definition, object, left);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  /** Lists are replaced whole by a merge patch, so that it has to say of which version it is. */
  #setFinalizers<T extends KubernetesObject>(
    definition: ResourceDefinition<T>,
    object: DeepReadonly<T>,
    finalizers: readonly string[],
  ): Promise<DeepReadonly<T>> {
    const { resourceVersion } = object.metadata;
    return this.patch(definition, object, { metadata: { finalizers, resourceVersion } } as unknown as MergePatch<T>);
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

  #wrote<T extends KubernetesObject>(definition: ResourceDefinition<T>, object: DeepReadonly<T>): DeepReadonly<T> {
    this.#listener.wrote(definition, object);
    return object;
  }

  #options(): { readonly fieldManager: string; readonly signal: AbortSignal } {
    return { fieldManager: this.#fieldManager, signal: this.#signal };
  }
}
