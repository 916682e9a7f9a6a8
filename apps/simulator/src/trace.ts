import type { Decision } from "@kubewright/cluster";
import type { JobDecision } from "@kubewright/job";
import type { CronJobState, ScenarioEventRecord } from "@kubewright/timeline/data";

export type { CronJobState, ScenarioEventRecord } from "@kubewright/timeline/data";

/**
 * What happened, in order: the one record that the timeline, the summary and the JSON lines are made from. Times are
 * RFC 3339 in UTC with milliseconds.
 */
export type TraceRecord = TraceHeader | ObjectRecord | EventRecord | DecisionRecord | ScenarioEventRecord | TraceEnd;

export interface TraceHeader {
  readonly type: "header";
  readonly traceVersion: 1;
  readonly kubernetes: string;
  readonly seed: number;
  readonly start: string;
  readonly end: string;
  /** Version of the time-zone data: traces are byte-identical only for equal data. */
  readonly timeZoneData: string;
  /** Zone of CronJobs without `timeZone`, unless it is UTC. */
  readonly localTimeZone?: string;
}

/** An object was created, changed or deleted. `state` holds what matters for a timeline, not the whole object. */
export type ObjectRecord = {
  readonly type: "object";
  readonly at: string;
  readonly change: "ADDED" | "MODIFIED" | "DELETED";
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** When it was created, for what was there before the recording began; otherwise `at` of its `ADDED` tells. */
  readonly createdAt?: string;
  /** The controlling owner. */
  readonly owner?: { readonly kind: string; readonly name: string; readonly uid: string };
} & (
  | { readonly kind: "CronJob"; readonly state: CronJobState }
  | { readonly kind: "Job"; readonly state: JobState }
  | {
      readonly kind: "Pod";
      readonly state: PodState;
      /** Thousandths of a core that its containers request together; with `ADDED` only, and only if they request any. */
      readonly cpuMillis?: number;
      /** Bytes that they request together; likewise. */
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
  /** What the scheduler says of a pod that fits on no node. */
  readonly unschedulable?: string;
}

/** A Kubernetes Event was recorded, or counted once more. */
export interface EventRecord {
  readonly type: "event";
  readonly at: string;
  readonly eventType: string;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
  readonly involved: { readonly kind: string; readonly namespace: string; readonly name: string };
}

/** What a controller decided, and why, in its own data. */
export type DecisionRecord = { readonly type: "decision"; readonly at: string } & (
  | Exclude<Decision, { controller: "job-controller" }>
  | { readonly controller: "job-controller"; readonly decision: JobDecisionSummary }
);

/** A Job's decision without the plan, which holds whole pods, and with its reasons in words. */
export type JobDecisionSummary = Pick<JobDecision, "key" | "uid" | "action" | "statusWrites"> & {
  readonly reasons: readonly string[];
  readonly error?: string;
  /** With `error`: how many pods it was about to create. */
  readonly creating?: number;
};

export interface TraceEnd {
  readonly type: "end";
  readonly at: string;
  /** How much there was at once; in traces that `kubewright run` writes. */
  readonly concurrent?: ConcurrentLevels;
}

/** How much there was at once: of all pods, and of those namespaces and pools of nodes that had any. */
export interface ConcurrentLevels extends UsageInTrace {
  readonly namespaces: readonly (UsageInTrace & { readonly namespace: string })[];
  readonly pools: readonly (UsageInTrace & { readonly pool: string })[];
}

/** The most at any time, and what 95 % of the time there was no more than. */
export interface UsageInTrace {
  /** That waited or ran; of a pool, on one of its nodes. */
  readonly pods: LevelInTrace;
  /** Requested by pods on a node. */
  readonly cores: LevelInTrace;
  readonly memoryBytes: LevelInTrace;
}

export interface LevelInTrace {
  readonly max: number;
  readonly p95OverTime: number;
}

/** One record as a line of JSON. */
export function traceLine(record: TraceRecord): string {
  return `${JSON.stringify(record)}\n`;
}
