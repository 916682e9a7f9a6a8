import type { DeepReadonly, KubernetesObject } from "@kubewright/api";
import type { Decision } from "@kubewright/cluster";
import type { ShardStatus } from "@kubewright/sharding";

import type { FaultPlan } from "./fault-plan.js";

/** An object as somebody stored it. Never changed afterwards. */
export type Stored<T extends KubernetesObject = KubernetesObject> = DeepReadonly<T>;

/** One change of what is stored, told in the order in which the changes were made. */
export interface StoredChange {
  readonly atMs: number;
  /** `jobs.batch`, `pods`: plural and group. */
  readonly resource: string;
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  /** As it is now; of a deleted one, as it was last. */
  readonly object: Stored;
  /** As it was before. Absent for one that was added. */
  readonly previous?: Stored;
  /** The request that did it. Absent for what the API server does by itself. */
  readonly request?: RequestInfo;
}

/** What is known of a request when it is sent. */
export interface RequestInfo {
  /** Who sent it: `job-controller`, `kubelet`, `user`; for other controllers their names. */
  readonly component: string;
  /** Which controller manager: `controller-manager-1`; `""` for what is in none. */
  readonly process: string;
  /** Which life of it, from 1: it is killed and started again. */
  readonly incarnation: number;
  readonly sentMs: number;
  readonly verb: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** Decoded. */
  readonly body?: unknown;
}

/** A request and what became of it. */
export interface AnsweredRequest extends RequestInfo {
  readonly atMs: number;
  /** Of the answer that the component got: 0 for none. */
  readonly code: number;
  /** The message of a `Status`. */
  readonly message?: string;
  /** Whether a fault, and not the API server, gave that answer. */
  readonly injected: boolean;
  /** Whether the API server has done what was asked for, whatever the component heard. */
  readonly tookEffect: boolean;
}

/** An event as a component's informer was told of it. */
export interface CacheEvent {
  readonly atMs: number;
  readonly component: string;
  readonly process: string;
  readonly incarnation: number;
  /** Which informer: each that was ever made has a number of its own. */
  readonly cache: number;
  readonly resource: string;
  readonly type: "add" | "update" | "delete";
  readonly object: Stored;
  readonly previous?: Stored;
}

/** What a controller decided, and which. */
export type ReportedDecision = Decision & {
  readonly process: string;
  readonly incarnation: number;
  readonly atMs: number;
};

/** A happening of the plan, when it begins and when it ends. */
export interface ReportedScenarioEvent {
  readonly atMs: number;
  readonly kind: string;
  readonly phase: "begin" | "end";
  /** Of the plan's `happenings`. */
  readonly index: number;
}

/**
 * A bug: what the language throws where a program is wrong (`TypeError`, `ReferenceError`, `RangeError`…), out of a
 * controller's sync or a handler. Other errors are how controllers ask to be called again.
 */
export interface ThrownError {
  readonly atMs: number;
  readonly component: string;
  readonly error: unknown;
}

/** What invariants look at: the store itself, which no fault touches, and the time. */
export interface World {
  readonly plan: FaultPlan;
  readonly nowMs: number;
  /** From here on nothing goes wrong any more, in epoch milliseconds: the last happening is over. */
  readonly healedMs: number;
  /** @param resource - `jobs.batch` */
  get<T extends KubernetesObject>(resource: string, namespace: string, name: string): Stored<T> | undefined;
  /** All that is stored, in the order of creation. */
  list<T extends KubernetesObject>(resource: string): readonly Stored<T>[];
  /**
   * Which caches of those who run differ from what is stored, or from what their handlers were told, but for what may still be
   * on its way. `[]`: none.
   *
   * @param forMs - Only by what was changed so long ago. Default: 0.
   */
  staleCaches(
    forMs?: number,
  ): readonly { readonly component: string; readonly resource: string; readonly difference: string }[];
  /** Who believes to lead now. */
  leaders(): readonly string[];
  /** What each controller manager that shares work, and is up, knows of who does what. By name. */
  shards(): Readonly<Record<string, ShardStatus>>;
  /**
   * What checks of one run follow together: made for the first that asks for it when it begins to watch, and told of everything
   * before any check is.
   */
  shared<T extends object>(make: (world: World) => T & RunListener): T;
}

/** Who is told of everything in a run, at once. */
export interface RunListener {
  readonly onChange?: (change: StoredChange) => void;
  readonly onAnswer?: (request: AnsweredRequest) => void;
  readonly onDecision?: (decision: ReportedDecision) => void;
  readonly onCacheEvent?: (event: CacheEvent) => void;
  readonly onScenarioEvent?: (scenarioEvent: ReportedScenarioEvent) => void;
  readonly onError?: (error: ThrownError) => void;
}
