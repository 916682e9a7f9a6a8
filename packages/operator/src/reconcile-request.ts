import type { DeepReadonly, KubernetesObject, ObjectKey } from "@kubewright/api";
import type { Clock, Logger } from "@kubewright/clock";
import type { EventSink, ReconcileResult } from "@kubewright/controller";

import type { Cache } from "./cache.js";
import type { OperatorClient } from "./operator-client.js";

/** What tells users about an object: about the one that is reconciled, unless another one is named. */
export interface ObjectEvents extends EventSink {
  /** @param reason - One word in CamelCase, for machines. @param message - One sentence, for people. */
  normal(reason: string, message: string): void;
  warning(reason: string, message: string): void;
}

/** What a reconciler is handed, whether or not the object is still there. */
export interface RequestScope<Metrics> {
  /** `namespace/name`, or `name` for a cluster-scoped object. */
  readonly key: ObjectKey;
  readonly name: string;
  /** `""` for a cluster-scoped object. */
  readonly namespace: string;
  readonly client: OperatorClient;
  readonly cache: Cache;
  /** Says by itself which controller, object and reconcile it speaks of. */
  readonly log: Logger;
  /** What `metrics` of the operator's options has made. */
  readonly metrics: Metrics;
  /** Aborts when the operator stops, leadership ends, or the reconcile has taken too long. */
  readonly signal: AbortSignal;
  /** When this reconcile began, in milliseconds since the epoch. */
  readonly now: number;
  /** For whoever has to wait. Better not to: answer with `requeueAfterMs`. */
  readonly clock: Clock;
}

/** What a reconciler is handed: everything it needs, and may do. */
export interface ReconcileRequest<T extends KubernetesObject, Metrics = undefined> extends RequestScope<Metrics> {
  /** As the cache has it, shared: not to be changed. */
  readonly object: DeepReadonly<T>;
  readonly events: ObjectEvents;
}

/**
 * Brings one object to where it should be. It is called when the object, or something the controller watches, has changed;
 * never twice at once for one object; and may be called again at any time with nothing changed. Not called for an object
 * that is gone, nor for one that is being deleted (see `whileTerminating`).
 *
 * Throws to be called again with back-off, `TerminalError` not to be; answers with `requeueAfterMs` to be called again then
 * in any case.
 */
export type Reconciler<T extends KubernetesObject, Metrics = undefined> = (
  request: ReconcileRequest<T, Metrics>,
) => Promise<ReconcileResult | void> | ReconcileResult | void;

/**
 * Undoes what the object stood for, outside of what is deleted with it. Called while the object is being deleted, until it
 * succeeds: what it throws is tried again, and `requeueAfterMs` says that it is not done yet.
 */
export type Finalizer<T extends KubernetesObject, Metrics = undefined> = Reconciler<T, Metrics>;

/**
 * Forgets what is remembered of an object that is gone, such as a metric. It may be called more than once, and for an object
 * that never was, when something else asks to look at it. What it throws is only logged.
 */
export type GoneHandler<Metrics = undefined> = (request: RequestScope<Metrics>) => Promise<void> | void;
