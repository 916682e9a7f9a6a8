import type { DeepReadonly, NamespacedName, UnstructuredObject } from "@kubewright/api";
import {
  type Client,
  type DeleteOptions,
  type ResourceClient,
  errorMessage,
  isConflict,
  isNotFound,
  reasonOf,
} from "@kubewright/client";
import type { Clock, Random } from "@kubewright/clock";
import { defaultBackoff, retryOnConflict } from "@kubewright/controller";

import { type Metadata, type ObjectIdentity, type ObjectType, describeIdentity } from "./object-identity.js";
import { removeFinalizerPatch } from "./patches.js";
import type { AnyResource, ResourceCatalog } from "./resource-catalog.js";

/** Discovery has found no resource for this type, so the state of its objects is unknown. */
export class UnknownTypeError extends Error {
  override readonly name = "UnknownTypeError";

  constructor({ apiVersion, kind }: ObjectType) {
    super(`unable to get REST mapping for ${apiVersion}/${kind}.`);
  }
}

/** A cluster-scoped object refers to an owner of a namespaced type, which cannot be looked up. */
export class NamespacedOwnerError extends Error {
  override readonly name = "NamespacedOwnerError";

  constructor() {
    super("cluster-scoped objects cannot refer to namespaced owners");
  }
}

/** A change of an object: one patch for types with strategic merge patches, and one for other types. */
export interface MetadataPatch {
  readonly strategic: object;
  /**
   * @param known - The cached object, if any. A later change is rejected, because the patch contains its
   * resourceVersion.
   */
  readonly merge: (known: Metadata) => object;
}

export interface LiveObjectsOptions {
  readonly client: Client;
  readonly catalog: ResourceCatalog;
  /** Returns the metadata of a cached object with that name and any UID. */
  readonly cached: (resource: AnyResource, place: NamespacedName) => Metadata | undefined;
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * Sends requests for objects of any type, by identity. All methods throw {@link UnknownTypeError}, and errors of the
 * API server.
 */
export class LiveObjects {
  readonly #client: Client;
  readonly #catalog: ResourceCatalog;
  readonly #cached: LiveObjectsOptions["cached"];
  readonly #clock: Clock;
  readonly #random: Random;

  constructor({ client, catalog, cached, clock, random }: LiveObjectsOptions) {
    this.#client = client;
    this.#catalog = catalog;
    this.#cached = cached;
    this.#clock = clock;
    this.#random = random;
  }

  /** @throws UnknownTypeError */
  resourceOf(type: ObjectType): AnyResource {
    const resource = this.#catalog.find(type);
    if (resource === undefined) throw new UnknownTypeError(type);
    return resource;
  }

  /** @throws NamespacedOwnerError when the type is namespaced and the identity has no namespace. */
  async get(identity: ObjectIdentity, signal: AbortSignal): Promise<Metadata> {
    const resource = this.resourceOf(identity);
    if (resource.namespaced && identity.namespace === "") throw new NamespacedOwnerError();
    return (await this.#get(resource, identity, signal)).metadata;
  }

  /**
   * Deletes the object in the version that was read. If a field other than its owners has changed since, it deletes the
   * current version: otherwise frequent changes by other clients could prevent the deletion.
   *
   * @throws the conflict, when the owners have changed, the object is another one, or it cannot be read.
   * @see kubernetes v1.36 pkg/controller/garbagecollector/operations.go deleteObject
   */
  async delete(
    identity: ObjectIdentity,
    seen: Metadata,
    propagationPolicy: NonNullable<DeleteOptions["propagationPolicy"]>,
    signal: AbortSignal,
  ): Promise<void> {
    const resource = this.resourceOf(identity);
    const { uid, name } = identity;
    const objects = this.#client.resource(resource);
    const options = { ...namespaceOption(resource, identity), propagationPolicy, signal };
    const { resourceVersion = "" } = seen;
    try {
      await objects.delete(name, { ...options, preconditions: { uid, resourceVersion } });
      return;
    } catch (error) {
      if (!isConflict(error)) throw error;
      let live: Metadata;
      try {
        live = (await this.#get(resource, identity, signal)).metadata;
      } catch (liveError) {
        throw isNotFound(liveError) ? liveError : error;
      }
      const isUnrelatedChange = live.uid === uid && live.resourceVersion !== resourceVersion && sameOwners(live, seen);
      if (!isUnrelatedChange) throw error;
    }
    await objects.delete(name, { ...options, preconditions: { uid } });
  }

  /** @see kubernetes v1.36 pkg/controller/garbagecollector/patch.go patch */
  async patch(identity: ObjectIdentity, { strategic, merge }: MetadataPatch, signal: AbortSignal): Promise<void> {
    const resource = this.resourceOf(identity);
    const objects = this.#client.resource(resource);
    const options = { ...namespaceOption(resource, identity), signal };
    try {
      await objects.patch(identity.name, { type: "strategic", body: strategic }, options);
    } catch (error) {
      if (reasonOf(error) !== "UnsupportedMediaType") throw error;
      const known =
        this.#cached(resource, { ...namespaceOption(resource, identity), name: identity.name }) ??
        (await this.#get(resource, identity, signal)).metadata;
      await objects.patch(identity.name, { type: "merge", body: merge(known) }, options);
    }
  }

  /**
   * Removes a finalizer if the object exists and has it. Retries conflicts with other clients up to four times.
   *
   * @see kubernetes v1.36 pkg/controller/garbagecollector/operations.go removeFinalizer
   */
  async removeFinalizer(owner: ObjectIdentity, finalizer: string, signal: AbortSignal): Promise<void> {
    const attempt = async (): Promise<void> => {
      let live: Metadata;
      try {
        live = await this.get(owner, signal);
      } catch (error) {
        if (isNotFound(error)) return;
        const message = `cannot finalize owner ${describeIdentity(owner)}, because cannot get it: ${errorMessage(error)}. The garbage collector will retry later`;
        throw new Error(message, { cause: error });
      }
      if (!live.finalizers?.includes(finalizer)) return;
      const resource = this.resourceOf(owner);
      const objects: Pick<ResourceClient<UnstructuredObject>, "patch"> = this.#client.resource(resource);
      const body = removeFinalizerPatch(live, finalizer);
      await objects.patch(owner.name, { type: "merge", body }, { ...namespaceOption(resource, owner), signal });
    };
    try {
      await retryOnConflict(attempt, { clock: this.#clock, random: this.#random, backoff: defaultBackoff, signal });
      return;
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
    // As upstream, the error omits the conflict.
    throw new Error(
      `updateMaxRetries(${defaultBackoff.attempts}) has reached. The garbage collector will retry later for owner ${describeIdentity(owner)}`,
    );
  }

  #get(
    resource: AnyResource,
    identity: ObjectIdentity,
    signal: AbortSignal,
  ): Promise<DeepReadonly<UnstructuredObject>> {
    return this.#client.resource(resource).get(identity.name, { ...namespaceOption(resource, identity), signal });
  }
}

/** Omits the namespace for a cluster-scoped object, also when the reference came from a namespaced object. */
function namespaceOption({ namespaced }: AnyResource, { namespace }: ObjectIdentity): { readonly namespace?: string } {
  return namespaced ? { namespace } : {};
}

/** Both come from the API server, which always serialises fields in the same order. */
function sameOwners(a: Metadata, b: Metadata): boolean {
  return JSON.stringify(a.ownerReferences) === JSON.stringify(b.ownerReferences);
}
