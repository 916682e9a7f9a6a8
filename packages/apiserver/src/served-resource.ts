import type { KubernetesObject, ResourceDefinition } from "@kubewright/api";

import type { ApiCall } from "./api-call.js";
import type { ErrorSubject } from "./api-error.js";
import type { DeleteOptions } from "./registry/options.js";
import type { DeletionResult } from "./registry/outcome.js";
import type { Write } from "./registry/write.js";
import type { JsonObject } from "./json.js";
import type { MetadataRules } from "./metadata-validation.js";
import type { Reply } from "./reply.js";
import type { Verb } from "./route.js";
import type { DecodeFindings } from "./schema/decode.js";
import type { ObjectSchema } from "./schema/schema.js";
import type { ResourceStorage } from "./storage/resource-storage.js";
import type { StoredObject } from "./storage/stored-object.js";
import type { ResourceStrategy, UpdateStrategy } from "./strategy.js";

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
  readonly verbs: ReadonlySet<Verb>;
  /** Who serves each of the verbs. */
  readonly handlers: Handlers;
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
  /** What everybody who uses it is told. */
  readonly warnings: readonly string[];
  /** The version that objects are stored in, when it is another one than this. */
  readonly storageVersion: string | undefined;
  /** How an object goes, where that is not as with all others. */
  readonly remove: Remover | undefined;
  /** Set for resources that a CustomResourceDefinition made. */
  readonly custom: CustomResource | undefined;
}

/** Serves one verb of a resource or a subresource. */
export type Handler = (call: ApiCall) => Reply | Promise<Reply>;
export type Handlers = Readonly<Partial<Record<Verb, Handler>>>;

/** Deletes an object, or marks it. @throws ApiError 409 when the preconditions do not hold. */
export type Remover = (write: Write, stored: StoredObject, options: DeleteOptions) => DeletionResult;

/** Two resources over one storage: how stored objects look here, and how what is sent here is stored. Both return new objects. */
export interface ResourceView<T extends KubernetesObject> {
  readonly storedAs: ResourceDefinition;
  fromStored(stored: KubernetesObject): T;
  toStored(object: T): KubernetesObject;
}

/** A path below an object, with the verbs and kind that discovery shows. */
export interface Subresource {
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly verbs: readonly Verb[];
  readonly handlers: Handlers;
  /** What an update of the object through this path may change. Absent: it is no update, or one as any other. */
  readonly strategy?: UpdateStrategy | undefined;
  /** How an update shows the object to those who are asked before it. Absent: as it is. */
  readonly view?: SubresourceView;
}

/** An object as one of another kind, which tells a part of it. */
export interface SubresourceView {
  show(object: KubernetesObject): KubernetesObject;
  /** The object with that part as it is shown. Takes the object over. @throws ApiError 422 */
  apply(write: Write, shown: KubernetesObject, object: KubernetesObject): KubernetesObject;
}

/** What is special about a resource that a CustomResourceDefinition made. */
export interface CustomResource {
  /** `undefined` while creates are allowed; otherwise why they are refused. */
  readonly createRefusal: () => string | undefined;
  /** The schema as the definition has it, for clients to read. */
  readonly openApiSchema: JsonObject | undefined;
  /** Who makes objects of one version those of another, where more has to change than the name of the version. */
  readonly conversion: ObjectConversion | undefined;
}

/** Turns objects into those of another version of their resource. */
export interface ObjectConversion {
  /**
   * Those objects, in order, in that version, which a {@link ResourceView} has yet to show or store. Those that are of it
   * already are the same ones.
   *
   * @throws ApiError 500 when one of them cannot be converted
   */
  convert(objects: readonly KubernetesObject[], apiVersion: string): Promise<readonly KubernetesObject[]>;
}

/** Whether objects are stored as what this resource calls them: of all that show the same ones, one is. */
export function isStoredAs({ view, group, version }: ServedResource): boolean {
  return view === undefined || (view.storedAs.group === group && view.storedAs.version === version);
}

/** What errors about an object's content name: the kind it is stored as. */
export function errorSubject(resource: ServedResource): Pick<ErrorSubject, "group" | "kind"> {
  return resource.custom === undefined ? (resource.view?.storedAs ?? resource) : resource;
}
