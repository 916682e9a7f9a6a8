import { type DigestGroup, RunDigest } from "./digest/run-digest.js";
import type { PackedStatistics } from "./digest/run-statistics.js";
import { RunStatistics } from "./digest/run-statistics.js";
import type { Incident } from "./futures/incident.js";
import { type GroupFuture, IncidentCounter } from "./futures/incident-counter.js";
import type { TimelineListener } from "./timeline/bounded-rows.js";
import type { TimelineGroup, TimelineRow } from "@kubewright/timeline/data";
import { Timeline } from "./timeline/timeline.js";
import type { TimelineTotals } from "./timeline/totals.js";
import type { TraceRecord } from "./trace.js";

/** What a run comes to, apart from what is told of it as it goes on. */
export interface RunOutcome {
  /** In the order in which they were heard of. */
  readonly groups: readonly DigestGroup[];
  readonly totals: TimelineTotals;
  /** How often each group had the mishaps that were to be counted; in the same order. */
  readonly counted: readonly GroupFuture[];
}

/** A run that is over, or was skipped. Plain data. */
export interface SettledRow {
  readonly group: TimelineGroup;
  readonly row: TimelineRow;
}

/** Follows a run from its first record to its last. */
export class RunFollower {
  readonly #digest = new RunDigest();
  readonly #counter: IncidentCounter;
  readonly #timeline: Timeline;

  /**
   * @incidents incidents - To be counted.
   * @param listeners - Who else wants to hear of every row.
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

  /** @param endMs - Where the window ends. To be asked once, after the last record. */
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

/** Plain data. */
export interface PackedOutcome extends Omit<RunOutcome, "groups"> {
  readonly groups: readonly (Omit<DigestGroup, "statistics"> & { readonly statistics: PackedStatistics })[];
}

/** As it can be handed to another thread. */
export function packOutcome({ groups, ...others }: RunOutcome): PackedOutcome {
  return { ...others, groups: groups.map((group) => ({ ...group, statistics: group.statistics.packed })) };
}

export function unpackOutcome({ groups, ...others }: PackedOutcome): RunOutcome {
  return {
    ...others,
    groups: groups.map((group) => ({ ...group, statistics: RunStatistics.of(group.statistics) })),
  };
}
