import type { KubernetesObject, ResourceDefinition } from "@kubewright/api";

import type { Finalizer, GoneHandler, Reconciler } from "./reconcile-request.js";
import type { Source, SourceOptions } from "./source.js";

/** How long a key waits that failed. */
export interface Backoff {
  /** After the first failure; doubled with each further one. Default 5. */
  readonly baseDelayMs?: number;
  /** Default 1,000,000, a quarter of an hour. */
  readonly maxDelayMs?: number;
  /** Retries of all keys together, after a burst. Default: not limited. */
  readonly rateLimit?: { readonly qps: number; readonly burst: number };
}

export interface ControllerOptions<T extends KubernetesObject> extends SourceOptions<T> {
  /** As in logs and metrics. Default: the kind in lower case. No two of an operator may have the same. */
  readonly name?: string;
  /** Keys that are reconciled at once. Default 1. */
  readonly workers?: number;
  /** How long one reconcile may take before its signal aborts, in milliseconds. Default: as long as it likes. */
  readonly reconcileTimeoutMs?: number;
  readonly backoff?: Backoff;
  /** Reconcile objects that are being deleted too. Default false. */
  readonly whileTerminating?: boolean;
}

/** Everything that was said of a controller. */
export interface ControllerSpec<T extends KubernetesObject, Metrics> extends ControllerOptions<T> {
  readonly name: string;
  readonly definition: ResourceDefinition<T>;
  readonly sources: readonly AnySource[];
  readonly finalizer: { readonly name: string; readonly finalize: Finalizer<T, Metrics> } | undefined;
  readonly gone: GoneHandler<Metrics> | undefined;
  readonly reconcile: Reconciler<T, Metrics>;
}

/** A source of a type that only it knows. */
export type AnySource = <R>(use: <S extends KubernetesObject>(source: Source<S>) => R) => R;
