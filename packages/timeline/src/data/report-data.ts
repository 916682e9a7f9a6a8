import type { ConcurrencySteps } from "./concurrency-steps.js";
import type { ScenarioEventRecord } from "./scenario-event-record.js";
import type { MissedSlots } from "./missed-slots.js";
import type { TimelineGroup } from "./rows.js";

/** Everything the page shows, as JSON: what the HTML file embeds, and what the live page makes from the trace. */
export interface ReportData {
  readonly reportVersion: 1;
  /** What a scenario says of itself, and what to look for. */
  readonly description?: string;
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
  /** In order of time. */
  readonly events: readonly EventNote[];
  /** In order of time. */
  readonly decisions: readonly DecisionNote[];
  /** Events and decisions beyond the bounds, which are not kept. */
  readonly dropped: { readonly events: number; readonly decisions: number };
  /** Objects at the end of their life, or of the run, by UID: the first of each kind. */
  readonly objects: Readonly<Record<string, unknown>>;
}

export interface ReportTotals {
  readonly jobs: number;
  readonly jobsComplete: number;
  readonly jobsFailed: number;
  /** Before they had ended. */
  readonly jobsDeleted: number;
  readonly runsSkipped: number;
  readonly pods: number;
  readonly podsSucceeded: number;
  /** Without those that were stopped. */
  readonly podsFailed: number;
  /** Failed because they were deleted while they ran. */
  readonly podsStopped: number;
}

export interface ObjectName {
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
  readonly involved: ObjectName;
}

/** What a controller decided about one object. */
export interface DecisionNote {
  readonly atMs: number;
  readonly controller: string;
  readonly object: ObjectName;
  /** The controller's own word for it, e.g. `skipped`. */
  readonly outcome: string;
  /** Why, one sentence each. */
  readonly reasons: readonly string[];
  readonly slotMs?: number;
  readonly jobName?: string;
  readonly missed?: readonly MissedSlots[];
}

/** Two runs to be compared, A and B, and what they do differently. */
export interface ComparisonReport {
  /** What each side is: its files, and its release of Kubernetes where that matters. */
  readonly titles: { readonly a: string; readonly b: string };
  readonly a: ReportData;
  readonly b: ReportData;
  readonly totals: RunCounts;
  /** Runs from here on were left out. */
  readonly untilMs?: number;
  /** Those that differ. */
  readonly groups: readonly DifferingGroup[];
  /** How many do not. */
  readonly equalGroups: number;
}

/** A CronJob, or a Job of its own, that does not do the same in both runs. */
export interface DifferingGroup {
  readonly kind: "CronJob" | "Job";
  readonly namespace: string;
  readonly name: string;
  readonly presentIn: "both" | "a" | "b";
  readonly counts: RunCounts;
  /** What its manifest says differently, a line for each field. */
  readonly changes: readonly string[];
  readonly differences: readonly {
    readonly type: "onlyA" | "onlyB" | "different";
    readonly slotMs: number;
    /** What became of it, in words. */
    readonly a: string;
    readonly b: string;
  }[];
  /** Further differences, of which only the number is kept. */
  readonly unlisted: number;
}

/** Runs of two sides, skipped ones not counted. */
export interface RunCounts {
  readonly a: number;
  readonly b: number;
  readonly same: number;
  readonly different: number;
  readonly onlyA: number;
  readonly onlyB: number;
}
