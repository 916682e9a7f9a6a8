import type { FaultPlan, Invariant, RunPlanOptions, RunRecord, Violation, runPlan } from "@kubewright/simulation";

/** Of a run whose records are more than that the earliest are forgotten. */
const MAX_RECORDS = 200_000;

/** All that was told of a run. */
export interface PlanRecording {
  readonly plan: FaultPlan;
  readonly records: readonly RunRecord[];
  /** Earlier ones, which are forgotten. */
  readonly dropped: number;
  readonly violations: readonly Violation[];
}

export interface RecordOptions extends Pick<RunPlanOptions, "controllers" | "builtIn" | "signal"> {
  readonly invariants: readonly Invariant[];
  /** What plays it: with a known bug in it, that bug's player. */
  readonly runner: typeof runPlan;
}

/** Plays a plan to its end and keeps what is told of it. */
export async function recordPlan(
  plan: FaultPlan,
  { runner, ...options }: RecordOptions,
  maxRecords = MAX_RECORDS,
): Promise<PlanRecording> {
  let records: RunRecord[] = [];
  let dropped = 0;
  const { violations } = await runner(plan, {
    ...options,
    onRecord(record) {
      records.push(record);
      if (records.length < 2 * maxRecords) return;
      dropped += maxRecords;
      records = records.slice(maxRecords);
    },
  });
  return { plan, records, dropped, violations };
}
