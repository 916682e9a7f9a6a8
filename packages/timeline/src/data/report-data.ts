import type { ConcurrencySteps } from "./concurrency-steps.js";
import type { ScenarioEventRecord } from "./scenario-event-record.js";
import type { ReportedMissedSlots } from "./missed-slots.js";
import type { TimelineGroup } from "./rows.js";

/** Data of the timeline page, as JSON. The HTML file embeds it; the live page computes it from the trace. */
export interface ReportData {
  readonly reportVersion: 1;
  /** The description from the scenario file. */
  readonly description?: string;
  /** What was assumed of containers, in one line. Absent: nothing. */
  readonly assumption?: string;
  readonly kubernetes: string;
  /** Absent for a live cluster. */
  readonly seed?: number;
  readonly startMs: number;
  /** End of the window, or the time reached so far. */
  readonly endMs: number;
  readonly timeZoneData: string;
  readonly groups: readonly TimelineGroup[];
  readonly totals: ReportTotals;
  readonly concurrency: ConcurrencySteps;
  readonly scenarioEvents: readonly ScenarioEventRecord[];
  /** In chronological order. */
  readonly events: readonly EventNote[];
  /** In chronological order. */
  readonly decisions: readonly DecisionNote[];
  /** Numbers of events and decisions beyond the limits, which are not included. */
  readonly dropped: { readonly events: number; readonly decisions: number };
  /**
   * Objects by UID, in their last state before deletion or the end of the run. Only the first objects of each kind are
   * included.
   */
  readonly objects: Readonly<Record<string, unknown>>;
}

export interface ReportTotals {
  readonly jobs: number;
  readonly jobsComplete: number;
  readonly jobsFailed: number;
  /** Jobs deleted before they finished. */
  readonly jobsDeleted: number;
  readonly runsSkipped: number;
  readonly pods: number;
  readonly podsSucceeded: number;
  /** Failed pods, without stopped ones. */
  readonly podsFailed: number;
  /** Pods that failed because they were deleted while they ran. */
  readonly podsStopped: number;
}

export interface ReportedObject {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** A Kubernetes Event. */
export interface EventNote {
  readonly atMs: number;
  readonly warning: boolean;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
  readonly involved: ReportedObject;
}

/** A controller's decision about one object. */
export interface DecisionNote {
  readonly atMs: number;
  readonly controller: string;
  readonly object: ReportedObject;
  /** The controller's name of the outcome, for example `skipped`. */
  readonly outcome: string;
  /** Reasons, one sentence each. */
  readonly reasons: readonly string[];
  readonly slotMs?: number;
  readonly jobName?: string;
  readonly missed?: readonly ReportedMissedSlots[];
}

/** Two compared runs, A and B, and their differences. */
export interface ComparisonReport {
  /** Description of each side: its files, and its Kubernetes release where that matters. */
  readonly titles: { readonly a: string; readonly b: string };
  readonly a: ReportData;
  readonly b: ReportData;
  readonly totals: RunCounts;
  /** Runs from this time on are not compared. */
  readonly untilMs?: number;
  /** CronJobs and Jobs that differ. */
  readonly groups: readonly DifferingGroup[];
  /** Number of CronJobs and Jobs without differences. */
  readonly equalGroups: number;
}

/** A CronJob, or a standalone Job, that behaves differently in the two runs. */
export interface DifferingGroup {
  readonly kind: "CronJob" | "Job";
  readonly namespace: string;
  readonly name: string;
  readonly presentIn: "both" | "a" | "b";
  readonly counts: RunCounts;
  /** Differences of its manifests, one line per field. */
  readonly changes: readonly string[];
  readonly differences: readonly {
    readonly type: "onlyA" | "onlyB" | "different";
    readonly slotMs: number;
    /** The outcome, as text. */
    readonly a: string;
    readonly b: string;
    /** For a difference that recurs: all its slots, from `slotMs` on. */
    readonly repeated?: RepeatedSlots;
  }[];
  /** Number of further differences that are not listed. */
  readonly unlisted: number;
}

/** Slots with the same difference. */
export interface RepeatedSlots {
  /** Including the first. */
  readonly count: number;
  readonly lastMs: number;
  /** The interval between any two neighbours, in local time: `every second hour`. Absent: it varies. */
  readonly every?: string;
}

/** Numbers of runs of both sides, without skipped runs. */
export interface RunCounts {
  readonly a: number;
  readonly b: number;
  readonly same: number;
  readonly different: number;
  readonly onlyA: number;
  readonly onlyB: number;
}
