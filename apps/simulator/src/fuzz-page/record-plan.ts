import type {
  FaultPlan,
  Invariant,
  RunPlanOptions,
  RunRecord,
  InvariantViolation,
  runPlan,
} from "@kubewright/simulation";

/** Maximum number of records; of a longer run the earliest are dropped. */
const MAX_RECORDS = 200_000;

/** All records of a run. */
export interface PlanRecording {
  readonly plan: FaultPlan;
  readonly records: readonly RunRecord[];
  /** Number of earlier records that were dropped. */
  readonly dropped: number;
  readonly violations: readonly InvariantViolation[];
}

export interface RecordOptions extends Pick<RunPlanOptions, "controllers" | "builtIn" | "signal"> {
  readonly invariants: readonly Invariant[];
  /** Runs the plan; with a known bug, that bug's runner. */
  readonly runner: typeof runPlan;
}

/** Runs a plan to its end and collects its records. */
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
