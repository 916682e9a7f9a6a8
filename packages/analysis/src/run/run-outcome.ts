import { type DigestGroup, RunDigest } from "../digest/run-digest.js";
import type { PackedStatistics } from "../digest/run-statistics.js";
import { RunStatistics } from "../digest/run-statistics.js";
import type { Incident } from "../futures/incident.js";
import { type GroupFuture, IncidentCounter } from "../futures/incident-counter.js";
import type { TimelineListener } from "../timeline/bounded-rows.js";
import type { TimelineGroup, TimelineRow } from "@kubewright/timeline/data";
import { Timeline } from "../timeline/timeline.js";
import type { TimelineTotals } from "../timeline/totals.js";
import type { TraceRecord } from "./trace.js";

/** The results of a run, except those that are written while it is simulated. */
export interface RunOutcome {
  /** In the order of their first observation. */
  readonly groups: readonly DigestGroup[];
  readonly totals: TimelineTotals;
  /** Incident counts of each group, in the same order. */
  readonly counted: readonly GroupFuture[];
}

/** A run that has ended, or was skipped. Plain data. */
export interface SettledRow {
  readonly group: TimelineGroup;
  readonly row: TimelineRow;
}

/** Collects the results of a run from its records. */
export class RunFollower {
  readonly #digest = new RunDigest();
  readonly #counter: IncidentCounter;
  readonly #timeline: Timeline;

  /**
   * @param incidents - Incidents to count.
   * @param listeners - Further listeners for every row.
   */
  constructor(incidents: readonly Incident[], listeners: readonly TimelineListener[]) {
    this.#counter = new IncidentCounter(incidents);
    this.#timeline = new Timeline({
      maxRows: 0,
      listener: combineListeners([this.#digest, ...(incidents.length === 0 ? [] : [this.#counter]), ...listeners]),
    });
  }

  add(record: TraceRecord): void {
    this.#timeline.add(record);
  }

  /** The groups so far. */
  get groups(): readonly DigestGroup[] {
    return this.#digest.groups;
  }

  /**
   * Returns the results. Call this once, after the last record.
   *
   * @param endMs - End of the window.
   */
  outcome(endMs: number): RunOutcome {
    return { groups: this.#digest.groups, totals: this.#timeline.totals, counted: this.#counter.groups(endMs) };
  }
}

function combineListeners(listeners: readonly TimelineListener[]): TimelineListener {
  const [only, ...others] = listeners;
  if (only !== undefined && others.length === 0) return only;
  return {
    groupAdded: (group) => listeners.forEach((each) => each.groupAdded(group)),
    rowAdded: (group, row) => listeners.forEach((each) => each.rowAdded(group, row)),
    runDeleted: (group) => listeners.forEach((each) => each.runDeleted?.(group)),
    rowSettled: (group, row) => listeners.forEach((each) => each.rowSettled(group, row)),
  };
}

/** A `RunOutcome` as plain data. */
export interface PackedOutcome extends Omit<RunOutcome, "groups"> {
  readonly groups: readonly (Omit<DigestGroup, "statistics"> & { readonly statistics: PackedStatistics })[];
}

/** Converts the results so that they can be sent to another thread. */
export function packOutcome({ groups, ...others }: RunOutcome): PackedOutcome {
  return { ...others, groups: groups.map((group) => ({ ...group, statistics: group.statistics.packed })) };
}

export function unpackOutcome({ groups, ...others }: PackedOutcome): RunOutcome {
  return {
    ...others,
    groups: groups.map((group) => ({ ...group, statistics: RunStatistics.of(group.statistics) })),
  };
}
