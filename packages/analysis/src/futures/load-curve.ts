import type { ObjectRecord, TraceRecord } from "../run/trace.js";
import { LEVEL_NAMES, type PerLevel, perLevel } from "./levels.js";
import type { Levels } from "./pod-peaks.js";

type PodRecord = Extract<ObjectRecord, { kind: "Pod" }>;
type JobRecord = Extract<ObjectRecord, { kind: "Job" }>;

/** A CronJob, or a Job without a CronJob. */
export interface GroupName {
  readonly kind: "CronJob" | "Job";
  readonly namespace: string;
  readonly name: string;
}

/** The time steps, and the groups that have their own curves besides the total. Plain data. */
export interface CurvePlan {
  /** Start of the first step in epoch milliseconds, a multiple of `stepMs`. */
  readonly fromMs: number;
  readonly stepMs: number;
  /** Number of steps. */
  readonly steps: number;
  readonly groups: readonly GroupName[];
}

/** The maximum of each level within each step. */
export type LoadCurve = PerLevel<readonly number[]>;

/** The curves of one future for a {@link CurvePlan}. Plain data. */
export interface FutureCurves {
  readonly all: LoadCurve;
  /** In the order of the plan. */
  readonly groups: readonly LoadCurve[];
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const STEPS_MS = [
  ...[1, 5, 10, 30].map((count) => count * SECOND_MS),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE_MS),
  ...[1, 2, 3, 6, 12].map((count) => count * HOUR_MS),
  ...[1, 2, 5, 10, 30].map((count) => count * DAY_MS),
];
/** Maximum number of steps: the width of a chart, and a bound on memory. */
const MAX_STEPS = 361;
/** Maximum number of CronJobs and Jobs with their own curves: the first by namespace and name. */
const MAX_GROUPS = 50;

/** Chooses round steps that cover the window, and the groups with their own curves. */
export function curvePlan(startMs: number, durationMs: number, groups: readonly GroupName[]): CurvePlan {
  const endMs = startMs + durationMs;
  const from = (stepMs: number): number => Math.floor(startMs / stepMs) * stepMs;
  const count = (stepMs: number): number => Math.max(1, Math.ceil((endMs - from(stepMs)) / stepMs));
  const stepMs = STEPS_MS.find((each) => count(each) <= MAX_STEPS) ?? Math.ceil(durationMs / (MAX_STEPS - 1));
  const byName = new Map(groups.map((group) => [groupKey(group), group]));
  return {
    fromMs: from(stepMs),
    stepMs,
    steps: count(stepMs),
    groups: [...byName]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .slice(0, MAX_GROUPS)
      .map(([, group]) => group),
  };
}

function groupKey({ kind, namespace, name }: GroupName): string {
  return `${namespace}/${name} ${kind}`;
}

interface FollowedPod {
  readonly curves: readonly GrowingCurve[];
  readonly cpuMillis: number;
  readonly memoryBytes: number;
  bound: boolean;
}

/** Tracks concurrent levels by step: waiting and running pods, and the requests of pods on a node. */
export class LoadCurveFollower {
  readonly #all: GrowingCurve;
  readonly #groups: ReadonlyMap<string, GrowingCurve>;
  /** Curves of Jobs, by UID. */
  readonly #owners = new Map<string, GrowingCurve>();
  readonly #pods = new Map<string, FollowedPod>();

  constructor(plan: CurvePlan) {
    this.#all = new GrowingCurve(plan);
    this.#groups = new Map(plan.groups.map((group) => [groupKey(group), new GrowingCurve(plan)]));
  }

  add(record: TraceRecord): void {
    if (record.type !== "object") return;
    if (record.kind === "Pod") this.#pod(record);
    else if (record.kind === "Job") this.#job(record);
  }

  /** @param endMs - The last levels are valid until then. */
  curves(endMs: number): FutureCurves {
    const groups = [...this.#groups.values()];
    for (const curve of [this.#all, ...groups]) curve.moveTo(endMs);
    return { all: this.#all.max, groups: groups.map(({ max }) => max) };
  }

  #job({ uid, change, namespace, name, owner }: JobRecord): void {
    if (change === "DELETED") this.#owners.delete(uid);
    if (change === "DELETED" || this.#owners.has(uid)) return;
    const isRun = owner?.kind === "CronJob";
    const curve = this.#groups.get(
      groupKey({ kind: isRun ? "CronJob" : "Job", namespace, name: isRun ? owner.name : name }),
    );
    if (curve !== undefined) this.#owners.set(uid, curve);
  }

  #pod({ uid, change, state, owner, at, cpuMillis = 0, memoryBytes = 0 }: PodRecord): void {
    const isActive = change !== "DELETED" && (state.phase === "Pending" || state.phase === "Running");
    let pod = this.#pods.get(uid);
    if (!isActive && pod === undefined) return;
    const atMs = Date.parse(at);
    if (pod === undefined) {
      const own = owner === undefined ? undefined : this.#owners.get(owner.uid);
      pod = { curves: own === undefined ? [this.#all] : [this.#all, own], cpuMillis, memoryBytes, bound: false };
      this.#pods.set(uid, pod);
      for (const curve of pod.curves) curve.add(atMs, { pods: 1, cpuMillis: 0, memoryBytes: 0 });
    }
    const sign = isActive ? 1 : -1;
    const requested = { cpuMillis: sign * pod.cpuMillis, memoryBytes: sign * pod.memoryBytes };
    if (!isActive) {
      this.#pods.delete(uid);
      for (const curve of pod.curves) curve.add(atMs, { pods: -1, ...(pod.bound ? requested : NOTHING) });
    } else if (!pod.bound && state.node !== undefined) {
      pod.bound = true;
      for (const curve of pod.curves) curve.add(atMs, { pods: 0, ...requested });
    }
  }
}

const NOTHING = { cpuMillis: 0, memoryBytes: 0 };

class GrowingCurve {
  readonly max: PerLevel<number[]>;
  readonly #plan: CurvePlan;
  readonly #now = { pods: 0, cpuMillis: 0, memoryBytes: 0 };
  #step = 0;
  #atMs = Number.NEGATIVE_INFINITY;

  constructor(plan: CurvePlan) {
    this.#plan = plan;
    this.max = perLevel(() => Array.from({ length: plan.steps }, () => 0));
  }

  /** Changes must be ordered by time. */
  add(atMs: number, by: Levels): void {
    this.moveTo(atMs);
    for (const level of LEVEL_NAMES) this.#now[level] += by[level];
    this.#updateMax();
  }

  /**
   * Extends the present levels until `atMs`. A level that ends exactly at the start of a step does not count in that
   * step.
   */
  moveTo(atMs: number): void {
    if (atMs <= this.#atMs) return;
    this.#atMs = atMs;
    this.#updateMax();
    const { fromMs, stepMs, steps } = this.#plan;
    const step = Math.min(steps - 1, Math.floor((atMs - fromMs) / stepMs));
    while (this.#step < step) {
      this.#step++;
      if (this.#step < step || atMs > fromMs + step * stepMs) this.#updateMax();
    }
  }

  #updateMax(): void {
    for (const level of LEVEL_NAMES) {
      const max = this.max[level];
      max[this.#step] = Math.max(max[this.#step]!, this.#now[level]);
    }
  }
}
