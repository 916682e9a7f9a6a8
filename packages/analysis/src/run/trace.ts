import type { Decision } from "@kubewright/cluster";
import type { JobDecision } from "@kubewright/job";
import type { CronJobState, ScenarioEventRecord } from "@kubewright/timeline/data";

import type { FoundObjects, InputProblem } from "../input/input-problem.js";

export type { CronJobState, ScenarioEventRecord } from "@kubewright/timeline/data";

/**
 * A record of the trace, in order of time. The timeline, the summary and the JSON lines are derived from it. Times are
 * RFC 3339 in UTC with milliseconds.
 */
export type TraceRecord = TraceHeader | ObjectRecord | EventRecord | DecisionRecord | ScenarioEventRecord | TraceEnd;

export interface TraceHeader {
  readonly type: "header";
  readonly traceVersion: 1;
  readonly kubernetes: string;
  readonly seed: number;
  readonly start: string;
  /** The flag that repeats the start: `--start 2026-01-01T00:00:00Z`. Absent in the trace of `kubewright serve`. */
  readonly repeat?: string;
  readonly end: string;
  /** Version of the time-zone data: traces are byte-identical only for equal data. */
  readonly timeZoneData: string;
  /** Zone of CronJobs without `timeZone`, unless it is UTC. */
  readonly localTimeZone?: string;
}

/**
 * An object was created, changed or deleted. `state` contains the fields that a timeline needs, not the whole object.
 */
export type ObjectRecord = {
  readonly type: "object";
  readonly at: string;
  readonly change: "ADDED" | "MODIFIED" | "DELETED";
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /**
   * Creation time of an object that existed before the recording. For other objects it is `at` of the `ADDED` record.
   */
  readonly createdAt?: string;
  /** The controlling owner. */
  readonly owner?: { readonly kind: string; readonly name: string; readonly uid: string };
} & (
  | { readonly kind: "CronJob"; readonly state: CronJobState }
  | { readonly kind: "Job"; readonly state: JobState }
  | {
      readonly kind: "Pod";
      readonly state: PodState;
      /**
       * CPU requests of its containers in thousandths of a core. Present only with `ADDED`, and only if there are any.
       */
      readonly cpuMillis?: number;
      /** Memory requests of its containers in bytes, under the same conditions. */
      readonly memoryBytes?: number;
    }
);

export interface JobState {
  readonly completions?: number;
  readonly parallelism?: number;
  readonly active: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly completedIndexes?: string;
  readonly failedIndexes?: string;
  readonly startTime?: string;
  readonly completionTime?: string;
  /** The slot this run of a CronJob belongs to. */
  readonly scheduledFor?: string;
  readonly outcome?: {
    readonly type: "Complete" | "Failed";
    readonly reason?: string;
    readonly message?: string;
    readonly at: string;
  };
  readonly suspended?: true;
}

export interface PodState {
  readonly phase: string;
  readonly node?: string;
  readonly index?: number;
  readonly startedAt?: string;
  readonly finishedAt?: string;
  readonly exitCode?: number;
  readonly reason?: string;
  readonly deleting?: true;
  /** Message of the scheduler for a pod that fits on no node. */
  readonly unschedulable?: string;
}

/** A Kubernetes Event was recorded, or its count increased. */
export interface EventRecord {
  readonly type: "event";
  readonly at: string;
  readonly eventType: string;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
  readonly involved: { readonly kind: string; readonly namespace: string; readonly name: string };
}

/** A decision of a controller with its reasons, in the controller's own format. */
export type DecisionRecord = { readonly type: "decision"; readonly at: string } & (
  | Exclude<Decision, { controller: "job-controller" }>
  | { readonly controller: "job-controller"; readonly decision: JobDecisionSummary }
);

/** A Job's decision without the plan, which contains whole pods, and with its reasons as text. */
export type JobDecisionSummary = Pick<JobDecision, "key" | "uid" | "action" | "statusWrites"> & {
  readonly reasons: readonly string[];
  readonly error?: string;
  /** With `error`: the number of pods that it was about to create. */
  readonly creating?: number;
};

export interface TraceEnd {
  readonly type: "end";
  readonly at: string;
  /** Concurrent usage, in traces that `kubewright run` writes. */
  readonly concurrent?: ConcurrentLevels;
  /** Causes for which the API server refused pods or Jobs, in traces that `kubewright run` writes. Absent: none. */
  readonly refused?: readonly RefusalInTrace[];
  /** What the input had, in traces that `kubewright run` writes. */
  readonly input?: InputInTrace;
}

/** A cause for which the API server refused pods or Jobs. */
export interface RefusalInTrace {
  /** The refusing object: `ResourceQuota shop/compute`. Absent when the API server names none. */
  readonly object?: string;
  /** The API server's first message, without the name of the new object. */
  readonly message: string;
  /** Runs whose pods were refused. */
  readonly runs: number;
  /** Of these, the runs without any pod. */
  readonly runsWithoutPods: number;
  /** Slots whose Job was refused. */
  readonly slots: number;
  /** Affected CronJobs and Jobs: `shop/report`. */
  readonly workloads: readonly string[];
  /** Slot or creation of the first and the last affected run. */
  readonly first: string;
  readonly last: string;
}

/** What was found in the input, and the mistakes in it. */
export interface InputInTrace {
  readonly cronJobs: number;
  /** Jobs without a CronJob. */
  readonly jobs: number;
  readonly files: number;
  readonly problems: readonly Pick<InputProblem, "kind" | "object" | "message">[];
}

/** Concurrent usage: of all pods, and of each namespace and node pool with pods. */
export interface ConcurrentLevels extends UsageInTrace {
  readonly namespaces: readonly (UsageInTrace & { readonly namespace: string })[];
  readonly pools: readonly (UsageInTrace & { readonly pool: string })[];
}

/** Maximum usage, and the level that was not exceeded for 95 % of the time. */
export interface UsageInTrace {
  /** Pods that waited or ran; for a pool, on one of its nodes. */
  readonly pods: LevelInTrace;
  /** Requested by pods on a node. */
  readonly cores: LevelInTrace;
  readonly memoryBytes: LevelInTrace;
}

export interface LevelInTrace {
  readonly max: number;
  readonly p95OverTime: number;
}

export function inputInTrace({ mistakes, ...counts }: FoundObjects): InputInTrace {
  return { ...counts, problems: mistakes.map(({ kind, object, message }) => ({ kind, object, message })) };
}

/** Returns one record as a line of JSON. */
export function traceLine(record: TraceRecord): string {
  return `${JSON.stringify(record)}\n`;
}
