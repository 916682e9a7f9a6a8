import type { KubernetesObject, ResourceDefinition } from "@kubewright/api";

import type { ErrorSubject } from "./api-error.js";
import type { DeleteOptions } from "./registry/options.js";
import type { DeletionResult } from "./registry/outcome.js";
import type { JsonObject } from "./json.js";
import type { MetadataRules } from "./metadata-validation.js";
import type { Reply } from "./reply.js";
import type { ResourceTarget, Verb } from "./route.js";
import type { DecodeFindings } from "./schema/decode.js";
import type { ObjectSchema } from "./schema/schema.js";
import type { ResourceStorage } from "./storage/resource-storage.js";
import type { StoredObject } from "./storage/stored-object.js";
import type { ResourceStrategy, UpdateStrategy } from "./strategy.js";

/** A resource as the server serves it, built in or from a CustomResourceDefinition. */
export interface ServedResource extends ErrorSubject, MetadataRules {
  readonly definition: ResourceDefinition;
  readonly version: string;
  /** Group and version: `batch/v1`. */
  readonly apiVersion: string;
  readonly listKind: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: ReadonlySet<Verb>;
  readonly handlers: ServedHandlers;
  readonly strategy: ResourceStrategy;
  /** Absent for kinds whose type the server does not know: their objects are stored as sent. */
  readonly schema: ObjectSchema | undefined;
  /**
   * Returns a private copy of the data in the form of this resource. The copy shares the parts that the data shares
   * with the stored version `known`; do not change them. Data that only the caller uses (`isOwned`) may become the copy
   * itself.
   *
   * @throws DecodeError
   */
  readonly decode: (
    value: unknown,
    findings?: DecodeFindings,
    known?: KubernetesObject,
    isOwned?: boolean,
  ) => KubernetesObject;
  readonly storage: ResourceStorage;
  readonly view: ResourceView<KubernetesObject> | undefined;
  readonly subresources: ReadonlyMap<string, Subresource>;
  readonly timeToLiveMs: number | undefined;
  /** Texts for the `Warning` header of every request. */
  readonly warnings: readonly string[];
  /** The storage version, if it differs from this version. */
  readonly storageVersion: string | undefined;
  /** Replaces the generic deletion, for kinds that need it. */
  readonly remove: Remover | undefined;
  /** Set for resources of a CustomResourceDefinition. */
  readonly custom: CustomResource | undefined;
}

/**
 * The handlers by verb, which only `dispatch` calls. Their parameter, an `ApiCall`, is not named: a call has all the
 * server's state, the state has the resources, and these would then depend on all of the server.
 */
export type ServedHandlers = Readonly<Partial<Record<Verb, (call: never) => Reply | Promise<Reply>>>>;

/**
 * Deletes an object, or marks it for deletion.
 *
 * @throws ApiError 409 when a precondition fails.
 */
export type Remover = (
  resource: ServedResource,
  stored: StoredObject,
  options: DeleteOptions,
  nowMs: number,
) => DeletionResult;

/** Conversion between two resources that share one storage. Both functions return new objects. */
export interface ResourceView<T extends KubernetesObject> {
  readonly storedAs: ResourceDefinition;
  fromStored(stored: KubernetesObject): T;
  toStored(object: T): KubernetesObject;
}

/** A subresource, with the verbs and kind that discovery shows. */
export interface Subresource {
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly verbs: readonly Verb[];
  readonly handlers: ServedHandlers;
  /**
   * Which fields an update through this path may change. Absent: the path has no updates, or the resource's strategy
   * applies.
   */
  readonly strategy?: UpdateStrategy | undefined;
  /** How admission sees an object that is updated through this path. Absent: unchanged. */
  readonly view?: SubresourceView;
}

/** Conversion between an object and a kind that contains a part of it, such as Scale. */
export interface SubresourceView {
  show(object: KubernetesObject): KubernetesObject;
  /**
   * Returns the object with the changes of `shown`. The caller must not use the object afterwards.
   *
   * @throws ApiError 422
   */
  apply(target: ResourceTarget, shown: KubernetesObject, object: KubernetesObject): KubernetesObject;
}

/** The parts of a resource that only a CustomResourceDefinition has. */
export interface CustomResource {
  /** Returns why creates are refused; `undefined` while they are allowed. */
  readonly createRefusal: () => string | undefined;
  /** The schema of the definition, for clients. */
  readonly openApiSchema: JsonObject | undefined;
  /** Converts objects between versions, if more than the apiVersion must change. */
  readonly conversion: ObjectConversion | undefined;
}

/** Converts objects to another version of their resource. */
export interface ObjectConversion {
  /**
   * Returns the objects in the version, in order, before a {@link ResourceView} shows or stores them. Objects that
   * already have the version are returned unchanged.
   *
   * @throws ApiError 500 when an object cannot be converted.
   */
  convert(objects: readonly KubernetesObject[], apiVersion: string): Promise<readonly KubernetesObject[]>;
}

/**
 * Whether objects are stored in the version of this resource. True for exactly one of the resources that share a
 * storage.
 */
export function isStoredAs({ view, group, version }: ServedResource): boolean {
  return view === undefined || (view.storedAs.group === group && view.storedAs.version === version);
}

/** Returns the kind that validation errors name: the kind that the object is stored as. */
export function errorSubject(resource: ServedResource): Pick<ErrorSubject, "group" | "kind"> {
  return resource.custom === undefined ? (resource.view?.storedAs ?? resource) : resource;
}
