import type { FaultPlan, Invariant, RunPlanOptions, RunRecord, Violation, runPlan } from "@kubewright/simulation";

/** Of a run whose records are more than that the earliest are forgotten. */
const MOST_RECORDS = 200_000;

/** All that was told of a run. */
export interface PlayedRecords {
  readonly plan: FaultPlan;
  readonly records: readonly RunRecord[];
  /** Earlier ones, which are forgotten. */
  readonly forgotten: number;
  readonly violations: readonly Violation[];
}

export interface RecordOptions extends Pick<RunPlanOptions, "controllers" | "builtIn" | "signal"> {
  readonly invariants: readonly Invariant[];
  /** What plays it: with a known bug in it, that bug's player. */
  readonly player: typeof runPlan;
}

/** Plays a plan to its end and keeps what is told of it. */
export async function recordPlan(
  plan: FaultPlan,
  { player, ...options }: RecordOptions,
  most = MOST_RECORDS,
): Promise<PlayedRecords> {
  let records: RunRecord[] = [];
  let forgotten = 0;
  const { violations } = await player(plan, {
    ...options,
    onRecord(record) {
      records.push(record);
      if (records.length < 2 * most) return;
      forgotten += most;
      records = records.slice(most);
    },
  });
  return { plan, records, forgotten, violations };
}
