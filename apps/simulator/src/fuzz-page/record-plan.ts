import type { FaultPlan, Invariant, PlayOptions, ToldRecord, Violation, play } from "@kubewright/simulation";

/** Of a run whose records are more than that the earliest are forgotten. */
const MOST_RECORDS = 200_000;

/** All that was told of a run. */
export interface PlayedRecords {
  readonly plan: FaultPlan;
  readonly records: readonly ToldRecord[];
  /** Earlier ones, which are forgotten. */
  readonly forgotten: number;
  readonly violations: readonly Violation[];
}

export interface RecordOptions extends Pick<PlayOptions, "controllers" | "builtIn" | "signal"> {
  readonly invariants: readonly Invariant[];
  /** What plays it: with a known bug in it, that bug's player. */
  readonly player: typeof play;
}

/** Plays a plan to its end and keeps what is told of it. */
export async function recordPlan(
  plan: FaultPlan,
  { player, ...options }: RecordOptions,
  most = MOST_RECORDS,
): Promise<PlayedRecords> {
  let records: ToldRecord[] = [];
  let forgotten = 0;
  const { violations } = await player(plan, {
    ...options,
    onTold(record) {
      records.push(record);
      if (records.length < 2 * most) return;
      forgotten += most;
      records = records.slice(most);
    },
  });
  return { plan, records, forgotten, violations };
}
