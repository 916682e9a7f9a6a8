import type { KubernetesObject, ResourceDefinition } from "@kubewright/api";

import type { NamedEventSource } from "./event-source.js";
import type { Finalizer, GoneHandler, Reconciler } from "./reconcile-request.js";
import type { Source, SourceOptions } from "./source.js";

/** Delays after failed reconciles. */
export interface RateLimiterOptions {
  /** Delay after the first failure in milliseconds; doubled by each further one. Default 5. */
  readonly baseDelayMs?: number;
  /** Longest delay in milliseconds. Default 1,000,000, about 17 minutes. */
  readonly maxDelayMs?: number;
  /** Limit for retries of all keys together, with a burst. Default: no limit. */
  readonly rateLimit?: { readonly qps: number; readonly burst: number };
}

export interface ControllerOptions<T extends KubernetesObject> extends SourceOptions<T> {
  /** Name in logs and metrics, unique in the operator. Default: the kind in lower case. */
  readonly name?: string;
  /** Number of keys that are reconciled concurrently. Default 1. */
  readonly workers?: number;
  /** Time in milliseconds after which the signal of a reconcile aborts. Default: no limit. */
  readonly reconcileTimeoutMs?: number;
  readonly backoff?: RateLimiterOptions;
  /** Reconcile objects that are being deleted too. Default false. */
  readonly whileTerminating?: boolean;
}

/** The complete declaration of a controller. */
export interface ControllerSpec<T extends KubernetesObject, Metrics> extends ControllerOptions<T> {
  readonly name: string;
  readonly definition: ResourceDefinition<T>;
  readonly sources: readonly AnySource[];
  readonly eventSources: readonly NamedEventSource[];
  readonly finalizers: readonly NamedFinalizer<T, Metrics>[];
  readonly gone: GoneHandler<Metrics> | undefined;
  readonly reconcile: Reconciler<T, Metrics>;
}

export interface NamedFinalizer<T extends KubernetesObject, Metrics> {
  readonly name: string;
  readonly finalize: Finalizer<T, Metrics>;
}

/** A source whose object type is hidden. */
export type AnySource = <R>(use: <S extends KubernetesObject>(source: Source<S>) => R) => R;
