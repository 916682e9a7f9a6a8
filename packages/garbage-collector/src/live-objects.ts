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

/** The API server has no resource of this type, as far as it is known: nothing can be said of its objects. */
export class UnknownTypeError extends Error {
  override readonly name = "UnknownTypeError";

  constructor({ apiVersion, kind }: ObjectType) {
    super(`unable to get REST mapping for ${apiVersion}/${kind}.`);
  }
}

/** A cluster-scoped object refers to an owner of a type that has namespaces: it cannot be looked up. */
export class NamespacedOwnerError extends Error {
  override readonly name = "NamespacedOwnerError";

  constructor() {
    super("cluster-scoped objects cannot refer to namespaced owners");
  }
}

/** How an object is to be changed: for types that know strategic merge patches, and for those that do not. */
export interface MetadataPatch {
  readonly strategic: object;
  /** @param known - As cached, if it is: what has changed since is refused, as the patch names its resourceVersion. */
  readonly merge: (known: Metadata) => object;
}

export interface LiveObjectsOptions {
  readonly client: Client;
  readonly catalog: ResourceCatalog;
  /** The metadata of an object that some cache holds under that name, whatever its UID. */
  readonly cached: (resource: AnyResource, place: NamespacedName) => Metadata | undefined;
  readonly clock: Clock;
  readonly random: Random;
}

/** Requests about objects of any type, by identity. All throw {@link UnknownTypeError}, and what the API server refuses. */
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

  /** @throws NamespacedOwnerError when the type has namespaces, and the identity has none. */
  async get(identity: ObjectIdentity, signal: AbortSignal): Promise<Metadata> {
    const resource = this.resourceOf(identity);
    if (resource.namespaced && identity.namespace === "") throw new NamespacedOwnerError();
    return (await this.#get(resource, identity, signal)).metadata;
  }

  /**
   * Deletes the object as it was when it was looked at; or, if it has changed since in anything but its owners, as it is.
   * Rapid changes of something else would starve deletions otherwise.
   *
   * @throws the conflict, when owners have changed or it is another object, or nobody can tell.
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
   * Removes a finalizer, if it is there and the object is, trying up to four times when somebody else writes the object.
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
    // Not a word of the conflict, as upstream.
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

/** A cluster-scoped object that was referred to from a namespace is not in it. */
function namespaceOption({ namespaced }: AnyResource, { namespace }: ObjectIdentity): { readonly namespace?: string } {
  return namespaced ? { namespace } : {};
}

/** Both come from the API server, which always writes members in the same order. */
function sameOwners(a: Metadata, b: Metadata): boolean {
  return JSON.stringify(a.ownerReferences) === JSON.stringify(b.ownerReferences);
}
