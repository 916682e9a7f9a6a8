import type { DeepReadonly, KubernetesObject, ObjectKey } from "@kubewright/api";
import type { Clock, Logger } from "@kubewright/clock";
import type { EventDetails, EventSink, ReconcileResult } from "@kubewright/controller";

import type { Cache } from "./cache.js";
import type { OperatorClient } from "./operator-client.js";

/** Records Events about the reconciled object, or with `event` about another one. */
export interface ObjectEvents extends EventSink {
  /**
   * @param reason - One word in CamelCase, for machines.
   * @param message - One sentence, for people.
   * @param details - Action and related object, which only events of events.k8s.io/v1 have.
   */
  normal(reason: string, message: string, details?: EventDetails): void;
  warning(reason: string, message: string, details?: EventDetails): void;
}

/** Arguments of a reconcile, even if the object no longer exists. */
export interface RequestScope<Metrics> {
  /** `namespace/name`, or `name` for a cluster-scoped object. */
  readonly key: ObjectKey;
  readonly name: string;
  /** `""` for a cluster-scoped object. */
  readonly namespace: string;
  readonly client: OperatorClient;
  readonly cache: Cache;
  /** Adds controller, object and reconcile to every line. */
  readonly log: Logger;
  /** Return value of `metrics` in the operator's options. */
  readonly metrics: Metrics;
  /** Aborts when the operator stops, leadership ends, or the reconcile has taken too long. */
  readonly signal: AbortSignal;
  /** Start of this reconcile, in milliseconds since the epoch. */
  readonly now: number;
  /** For reconcilers that must wait. Prefer to return `requeueAfterMs`. */
  readonly clock: Clock;
}

/** Arguments of a {@link GoneHandler}. */
export interface GoneRequest<Metrics = undefined> extends RequestScope<Metrics> {
  /** Whether the object exists, but is not selected by its narrowed cache. Always false for a cache of all objects. */
  readonly stillExists: boolean;
}

/** Arguments of a reconciler. */
export interface ReconcileRequest<T extends KubernetesObject, Metrics = undefined> extends RequestScope<Metrics> {
  /** The cached object, shared: do not modify it. */
  readonly object: DeepReadonly<T>;
  readonly events: ObjectEvents;
}

/**
 * Brings one object to its desired state. It is called when the object, or anything that the controller watches for it,
 * has changed. It may be called at any time without a change, but never twice concurrently for one object. It is not
 * called for a missing object, nor for one that is being deleted (see `whileTerminating`).
 *
 * Throw to be called again with back-off, throw `TerminalError` not to be. Return `requeueAfterMs` to be called again
 * after that time in any case.
 */
export type Reconciler<T extends KubernetesObject, Metrics = undefined> = (
  request: ReconcileRequest<T, Metrics>,
) => Promise<ReconcileResult | void> | ReconcileResult | void;

/**
 * Cleans up everything of the object that is not deleted with it, such as resources outside the cluster. It is called
 * while the object is being deleted, until it succeeds. An error is retried, and `requeueAfterMs` means that the
 * cleanup is not complete.
 */
export type Finalizer<T extends KubernetesObject, Metrics = undefined> = Reconciler<T, Metrics>;

/**
 * Removes state about an object that no longer exists, such as a metric. It may be called more than once, and for an
 * object that never existed, when another source enqueues its key. Errors are only logged.
 *
 * With a narrowed cache it is also called for an object that is no longer selected: see `stillExists`.
 */
export type GoneHandler<Metrics = undefined> = (request: GoneRequest<Metrics>) => Promise<void> | void;
