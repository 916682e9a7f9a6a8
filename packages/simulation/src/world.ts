import type { DeepReadonly, KubernetesObject } from "@kubewright/api";
import type { Decision } from "@kubewright/cluster";
import type { ShardStatus } from "@kubewright/sharding";

import type { ScenarioEventKind } from "./faults/registry.js";
import type { FaultPlan } from "./fault-plan.js";

/** A stored object; immutable. */
export type Stored<T extends KubernetesObject = KubernetesObject> = DeepReadonly<T>;

/** A change of the store. Changes are reported in the order in which they were made. */
export interface StoredChange {
  readonly atMs: number;
  /** Plural and group: `jobs.batch`, `pods`. */
  readonly resource: string;
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  /** The new version; for a deletion, the last version. */
  readonly object: Stored;
  /** The previous version. Absent for a new object. */
  readonly previous?: Stored;
  /** The request that caused the change. Absent for changes that the API server makes by itself. */
  readonly request?: ObservedRequest;
}

/** Data of a request that are known when it is sent. */
export interface ObservedRequest {
  /** Sender: `job-controller`, `kubelet`, `user`, or the name of a custom controller. */
  readonly component: string;
  /** Process of the sender: `controller-manager-1`; `""` for components outside of a controller manager. */
  readonly process: string;
  /** Incarnation of the sender, from 1; each restart is a new one. */
  readonly incarnation: number;
  readonly sentMs: number;
  readonly verb: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** Decoded body. */
  readonly body?: unknown;
}

/** A request and its response. */
export interface AnsweredRequest extends ObservedRequest {
  readonly atMs: number;
  /** HTTP status that the component received; 0 for no response. */
  readonly code: number;
  /** Message of a `Status` response. */
  readonly message?: string;
  /** Whether a fault, and not the API server, produced the response. */
  readonly injected: boolean;
  /** Whether the API server performed the request, regardless of the response. */
  readonly tookEffect: boolean;
}

/** An event that an informer delivered to its handlers. */
export interface CacheEvent {
  readonly atMs: number;
  readonly component: string;
  readonly process: string;
  readonly incarnation: number;
  /** Number of the informer; unique within the run. */
  readonly cache: number;
  readonly resource: string;
  readonly type: "add" | "update" | "delete";
  readonly object: Stored;
  readonly previous?: Stored;
}

/** A decision of a controller. */
export type ReportedDecision = Decision & {
  readonly process: string;
  readonly incarnation: number;
  readonly atMs: number;
};

/** The begin or the end of a scenario event. */
export interface ReportedScenarioEvent {
  readonly atMs: number;
  readonly kind: ScenarioEventKind;
  readonly phase: "begin" | "end";
  /** Index in the plan's `events`. */
  readonly index: number;
}

/**
 * A bug: an error that the language throws for a programming mistake (`TypeError`, `ReferenceError`, `RangeError`…),
 * thrown by a controller's sync or a handler. Controllers throw other errors to request a retry.
 */
export interface ThrownError {
  readonly atMs: number;
  readonly component: string;
  readonly error: unknown;
}

/** The view of a run for invariants: the store, which no fault affects, and the time. */
export interface World {
  readonly plan: FaultPlan;
  readonly nowMs: number;
  /** When all faults are over, in epoch milliseconds: the last scenario event has ended. */
  readonly healedMs: number;
  /** @param resource - `jobs.batch` */
  get<T extends KubernetesObject>(resource: string, namespace: string, name: string): Stored<T> | undefined;
  /** Returns all stored objects of a resource, in the order of creation. */
  list<T extends KubernetesObject>(resource: string): readonly Stored<T>[];
  /**
   * Returns the caches of running components that differ from the store, or from what their handlers have received.
   * Changes that may still be on their way are ignored. `[]`: none.
   *
   * @param forMs - Only differences from changes that are at least this old. Default: 0.
   */
  staleCaches(
    forMs?: number,
  ): readonly { readonly component: string; readonly resource: string; readonly difference: string }[];
  /** Returns the processes that consider themselves leader. */
  leaders(): readonly string[];
  /** Returns the view that each running controller manager has of the shared work, by name. */
  shards(): Readonly<Record<string, ShardStatus>>;
  /**
   * Returns an object that all checks of a run share. It is created at the first call, while checks begin to watch, and
   * receives every record before the checks do.
   */
  shared<T extends object>(make: (world: World) => T & RunListener): T;
}

/** A listener for all records of a run, called synchronously. */
export interface RunListener {
  readonly onChange?: (change: StoredChange) => void;
  readonly onAnswer?: (request: AnsweredRequest) => void;
  readonly onDecision?: (decision: ReportedDecision) => void;
  readonly onCacheEvent?: (event: CacheEvent) => void;
  readonly onScenarioEvent?: (scenarioEvent: ReportedScenarioEvent) => void;
  readonly onError?: (error: ThrownError) => void;
}
