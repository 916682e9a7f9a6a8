import type { KubernetesObject, ResourceDefinition } from "@kubewright/api";

import type { ApiCall } from "./api-call.js";
import type { ErrorSubject } from "./api-error.js";
import type { ResourceVerb, ResourceView } from "./built-in-resource.js";
import type { JsonObject } from "./json.js";
import type { MetadataRules } from "./metadata-validation.js";
import type { Reply } from "./reply.js";
import type { DecodeFindings } from "./schema/decode.js";
import type { ObjectSchema } from "./schema/schema.js";
import type { ResourceStorage } from "./storage/resource-storage.js";
import type { StoredObject } from "./storage/stored-object.js";
import type { ResourceStrategy } from "./strategy.js";

/** One resource as the server serves it, built in or from a CustomResourceDefinition. */
export interface ServedResource extends ErrorSubject, MetadataRules {
  readonly definition: ResourceDefinition;
  readonly version: string;
  /** `batch/v1` */
  readonly apiVersion: string;
  readonly listKind: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: ReadonlySet<ResourceVerb>;
  readonly strategy: ResourceStrategy;
  /** Absent for kinds whose type the server does not know: their objects are kept as they are sent. */
  readonly schema: ObjectSchema | undefined;
  /**
   * A private copy of the data as this resource writes it. What the data shares with `known`, a version as it is stored,
   * the copy shares, too: those parts may not be changed. Data that `isOwned` by nobody else may become the copy itself.
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
  /** Serves what is not stored (reviews, bindings) or a subresource of its own; `undefined` leaves a request to the usual handlers. */
  readonly handle: ((call: ApiCall) => Reply | undefined) | undefined;
  /** Set for resources that a CustomResourceDefinition made. */
  readonly custom: CustomResource | undefined;
}

/** A path below an object, with the verbs and kind that discovery shows. */
export interface Subresource {
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly verbs: readonly ("create" | "get" | "patch" | "update")[];
}

/** What is special about a resource that a CustomResourceDefinition made. */
export interface CustomResource {
  /** `undefined` while creates are allowed; otherwise why they are refused. */
  readonly createRefusal: () => string | undefined;
  readonly storageVersion: string;
  readonly warnings: readonly string[];
  /** The schema as the definition has it, for clients to read. */
  readonly openApiSchema: JsonObject | undefined;
}

/** The object as this resource shows it: stored objects may be of another version, or another API's kind. */
export function present(resource: ServedResource, stored: StoredObject): KubernetesObject {
  return resource.view === undefined ? stored.object : resource.view.fromStored(stored.object);
}

/** What errors about an object's content name: the kind it is stored as. */
export function errorSubject(resource: ServedResource): Pick<ErrorSubject, "group" | "kind"> {
  return resource.custom === undefined ? (resource.view?.storedAs ?? resource) : resource;
}
