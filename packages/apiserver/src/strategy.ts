import type { KubernetesObject, PodTemplateSpec } from "@kubewright/api";

import type { FieldErrors } from "./field-errors.js";
import type { NameFormat } from "./metadata-validation.js";

/**
 * Behaviour that one kind adds to the generic storage: defaults, fields that a client may not set, validation. One
 * object per kind, no I/O. The server passes a private copy of the request's object, which the methods change in place;
 * `stored` is shared and must not be changed.
 *
 * Upstream: `rest.RESTCreateStrategy`, `rest.RESTUpdateStrategy` and the API group's defaulting functions.
 */
export interface ResourceStrategy<T extends KubernetesObject = KubernetesObject> {
  /**
   * Sets the defaults of absent members. Called for every decoded request body and patch result, before all other
   * methods. Unchanged members (`spec`, `data`, …) are shared with the stored version, and a pod's spec may be shared
   * with its template. Replace such members, do not change them. They already have their defaults, a pod's spec those
   * of a template.
   *
   * @param stored - The version that the object replaces.
   */
  applyDefaults?(object: T, stored?: T): void;

  /** Returns the object's pod template: objects created from it may contain the same `spec` object. */
  podTemplate?(object: T): PodTemplateSpec | undefined;

  /**
   * Clears fields that a client may not set at creation, and sets the server's fields: status, generation, generated
   * labels.
   */
  prepareForCreate?(object: T, context: CreateContext): void;
  /** Validates the kind's rules for new and updated objects; the generic storage validates metadata. */
  validate?(object: T, errors: FieldErrors): void;
  /** Validates, after {@link validate}, what is only a rule for new objects. */
  validateCreate?(object: T, errors: FieldErrors): void;
  /** Returns texts for the `Warning` headers of a create. */
  warningsOnCreate?(object: T): readonly string[];

  /**
   * Sets defaults that are not stored but set on every read, so that validation never sees them. Returns whether it
   * changed the object: the next update then writes, even without other changes.
   */
  applyReadDefaults?(object: T): boolean;

  /**
   * Restores fields that this endpoint may not change (status, …). The storage increments the generation when {@link
   * bumpsGeneration} returns true. Members equal to the stored ones are shared with them: replace them, do not change
   * them.
   */
  prepareForUpdate?(object: T, stored: T): void;
  /** Validates, after {@link validate}, what is only a rule for updates: immutable fields. */
  validateUpdate?(object: T, stored: T, errors: FieldErrors): void;
  warningsOnUpdate?(object: T, stored: T): readonly string[];

  /** Set when the kind has a `status` subresource. */
  readonly status?: UpdateStrategy<T>;

  /** Whether an update increments the generation. Default: never, and created objects have no generation. */
  bumpsGeneration?(object: T, stored: T): boolean;

  /** Whether something besides `metadata.finalizers` keeps a deleted object. Default: nothing does. */
  blocksRemoval?(object: T): boolean;

  /** Propagation policy of a DELETE without one. Default `Background`; a batch/v1 Job's is `Orphan`. */
  readonly defaultPropagation?: "Background" | "Orphan";
  /** Text for the `Warning` header of a delete that uses {@link defaultPropagation}. */
  readonly warningOnDefaultPropagation?: string;

  /**
   * Returns the grace period of a DELETE in seconds: `requestedSeconds` as the client sent it, unless the object's
   * state requires another one. Absent: the kind has no graceful deletion.
   */
  gracePeriodSeconds?(object: T, requestedSeconds?: number): number;

  /** Whether a DELETE that removes the object answers with the object. Default: with a Status. */
  readonly deleteReturnsObject?: boolean;

  /** Whether a PUT without a resourceVersion is accepted. Default true. */
  readonly allowUnconditionalUpdate?: boolean;
  /** Whether a PUT of a missing object creates it. Default false. */
  readonly allowCreateOnUpdate?: boolean;

  /** Readers of field selectors besides `metadata.name` and `metadata.namespace`. */
  readonly fieldSelectors?: Readonly<Record<string, (object: T) => string>>;

  /** Rules for `metadata.name`. Default: a DNS-1123 subdomain. */
  readonly nameFormat?: NameFormat;

  /** Prints the kind as a Table. Default: Name and Created At. */
  readonly printer?: TablePrinter<T>;
}

/**
 * Fields that an endpoint may change: the status, or fields with their own subresource (`approval`,
 * `ephemeralcontainers`, …). Replaces the object's strategy.
 */
export interface UpdateStrategy<T extends KubernetesObject = KubernetesObject> {
  /** Restores all fields that do not belong to the subresource. */
  prepareForUpdate(object: T, stored: T): void;
  validateUpdate?(object: T, stored: T, errors: FieldErrors): void;
  warningsOnUpdate?(object: T, stored: T): readonly string[];
  /** Whether an update increments the generation. Default: never. */
  bumpsGeneration?(object: T, stored: T): boolean;
  /** The member that no manager can own through this subresource. Default `spec`. */
  readonly resets?: "spec" | "status";
}

export interface CreateContext {
  /** Epoch milliseconds. */
  readonly nowMs: number;
  /** Whether the name was generated from `generateName`. Default false. */
  readonly nameGenerated?: boolean;
}

export interface TablePrinter<T> {
  readonly columns: readonly TableColumn[];
  /** One cell per column. */
  cells(object: T, nowMs: number): readonly TableCell[];
  /**
   * Returns the row's conditions, such as `Completed` for pods that have ended; an empty list is omitted. Default:
   * none.
   */
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
  /** 0: always shown; 1: only with `-o wide`. */
  readonly priority?: number;
}
