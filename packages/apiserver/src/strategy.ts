import type { KubernetesObject, PodTemplateSpec } from "@kubewright/api";

import type { FieldErrors } from "./field-errors.js";
import type { NameFormat } from "./metadata-validation.js";

/**
 * What one kind adds to the generic storage: defaults, what a client may not set, validation. One object per kind, no
 * I/O. The server calls these on a private copy of the request's object that it alone owns, so they change it in place;
 * `stored` is shared and must not be changed.
 *
 * Upstream: `rest.RESTCreateStrategy`, `rest.RESTUpdateStrategy` and the API group's defaulting functions.
 */
export interface ResourceStrategy<T extends KubernetesObject = KubernetesObject> {
  /**
   * Fills in absent members. Runs on every decoded request body and every patch result, before everything below. Members
   * that are as they are stored (`spec`, `data`, …) are the stored version's own, and a pod's spec may be its template's: put
   * others in their place, do not change them. They have their defaults, a pod's spec those of a template.
   *
   * @param stored - The version that the object is to replace.
   */
  applyDefaults?(object: T, stored?: T): void;

  /** The template of pods that an object holds: its spec may come back, as the very same object, in what is made from it. */
  podTemplate?(object: T): PodTemplateSpec | undefined;

  /** Clears what a client may not set at creation and sets what the server owns: status, generation, generated labels. */
  prepareForCreate?(object: T, context: CreateContext): void;
  /** The kind's own rules for a new object; metadata rules that hold for every kind are the generic storage's. */
  validateCreate?(object: T, errors: FieldErrors): void;
  /** Sentences for the `Warning` headers of a create. */
  warningsOnCreate?(object: T): readonly string[];

  /**
   * Defaults that are not stored but filled in whenever the object is read, so that validation never sees them. Answers
   * whether it changed anything: the next update then writes, even when nothing else is different.
   */
  applyReadDefaults?(object: T): boolean;

  /**
   * Restores what this endpoint may not change (status, …). Generation is bumped by the storage when {@link bumpsGeneration}
   * says so. Members that equal the stored ones are the stored ones: put others in their place, do not change them.
   */
  prepareForUpdate?(object: T, stored: T): void;
  validateUpdate?(object: T, stored: T, errors: FieldErrors): void;
  warningsOnUpdate?(object: T, stored: T): readonly string[];

  /** Present when the kind has a `status` subresource. */
  readonly status?: UpdateStrategy<T>;

  /** Whether an accepted update counts as a new generation. Default: never, and created objects have no generation. */
  bumpsGeneration?(object: T, stored: T): boolean;

  /** Whether something besides `metadata.finalizers` keeps a deleted object from going. Default: nothing does. */
  blocksRemoval?(object: T): boolean;

  /** Which propagation a DELETE without a policy has. Default `Background`; a batch/v1 Job's is `Orphan`. */
  readonly defaultPropagation?: "Background" | "Orphan";
  /** Sentences for the `Warning` header of a delete that leaves the policy to {@link defaultPropagation}. */
  readonly warningOnDefaultPropagation?: string;

  /**
   * Seconds an accepted DELETE leaves the object: `requestedSeconds` as the client sent it, unless the object's state
   * forces another period. Absent: the kind has no graceful deletion.
   */
  gracePeriodSeconds?(object: T, requestedSeconds?: number): number;

  /** What a DELETE that removed the object at once answers: a Status (default), or the object. */
  readonly deleteReturnsObject?: boolean;

  /** Whether a PUT without a resourceVersion is accepted. Default true. */
  readonly allowUnconditionalUpdate?: boolean;
  /** Whether a PUT of a missing object creates it. Default false. */
  readonly allowCreateOnUpdate?: boolean;

  /** Values of the field selectors beyond `metadata.name` and `metadata.namespace`. */
  readonly fieldSelectors?: Readonly<Record<string, (object: T) => string>>;

  /** Rules for `metadata.name`. Default: a DNS-1123 subdomain. */
  readonly nameFormat?: NameFormat;

  /** How the kind is printed as a Table. Default: Name and Created At. */
  readonly printer?: TablePrinter<T>;
}

/**
 * What a subresource lets its writers change: the status, or what only some may (`approval`, `ephemeralcontainers`, …). Called
 * as the strategy of the whole object is, and in its place.
 */
export interface UpdateStrategy<T extends KubernetesObject = KubernetesObject> {
  /** Restores everything that is not this subresource's. */
  prepareForUpdate(object: T, stored: T): void;
  validateUpdate?(object: T, stored: T, errors: FieldErrors): void;
  warningsOnUpdate?(object: T, stored: T): readonly string[];
  /** Whether an accepted update counts as a new generation. Default: never. */
  bumpsGeneration?(object: T, stored: T): boolean;
  /** The member of the object that nobody comes to own through this subresource. Default `spec`. */
  readonly resets?: "spec" | "status";
}

export interface CreateContext {
  /** Epoch milliseconds. */
  readonly nowMs: number;
  /** The name was made from `generateName`. Default false. */
  readonly nameGenerated?: boolean;
}

export interface TablePrinter<T> {
  readonly columns: readonly TableColumn[];
  /** One cell per column. */
  cells(object: T, nowMs: number): readonly TableCell[];
  /** What the row says besides its cells, as pods that have ended are `Completed`; an empty list is left out. Default: nothing. */
  rowConditions?(object: T): readonly TableRowCondition[];
}

export interface TableRowCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

export type TableCell = string | number | boolean | null;

export interface TableColumn {
  readonly name: string;
  readonly type: "string" | "integer" | "boolean" | "date";
  readonly format?: string;
  readonly description?: string;
  /** 0 is always shown, 1 only by `-o wide`. */
  readonly priority?: number;
}
