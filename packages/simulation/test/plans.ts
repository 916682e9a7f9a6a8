import type { UnstructuredObject } from "@kubewright/api";

import {
  type AnsweredRequest,
  type CacheEvent,
  type FaultPlan,
  type ScenarioEventEntry,
  type Invariant,
  type Outcome,
  type RunPlanOptions,
  type StoredChange,
  type ThrownError,
  type ReportedDecision,
  type RunRecord,
  type World,
  runPlan,
} from "../src/index.js";

export const START_MS = Date.UTC(2026, 0, 1);

/** Returns a Job; its pods run for 30 s by default. */
export function job(name: string, spec: object = {}, duration = "30s"): UnstructuredObject {
  const template = {
    metadata: { annotations: { "sim.kubewright.dev/duration": duration } },
    spec: { restartPolicy: "Never", containers: [{ name: "c", image: "busybox" }] },
  };
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { namespace: "default", name },
    spec: { template, ...spec },
  };
}

export function cronJob(name: string, schedule: string, spec: object = {}, duration = "5s"): UnstructuredObject {
  const { spec: jobSpec } = job(name, {}, duration) as unknown as { spec: object };
  return {
    apiVersion: "batch/v1",
    kind: "CronJob",
    metadata: { namespace: "default", name },
    spec: { schedule, jobTemplate: { spec: jobSpec }, ...spec },
  };
}

/** Returns a plan of ten minutes with a Job of three pods, two of them concurrent. */
export function planOf(events: readonly ScenarioEventEntry[] = [], more: Partial<FaultPlan> = {}): FaultPlan {
  return {
    apiVersion: "sim.kubewright.dev/v1",
    kind: "Scenario",
    seed: 1,
    start: "2026-01-01T00:00:00Z",
    for: "10m",
    manifests: [job("a", { parallelism: 2, completions: 3 })],
    events,
    ...more,
  };
}

/** A run and all its records. */
export interface RecordedRun {
  readonly outcome: Outcome;
  readonly changes: readonly StoredChange[];
  readonly answers: readonly AnsweredRequest[];
  readonly decisions: readonly ReportedDecision[];
  readonly cacheEvents: readonly CacheEvent[];
  readonly errors: readonly ThrownError[];
  readonly notes: readonly string[];
  readonly phases: readonly string[];
  /** Stale caches at the end. */
  readonly staleCaches: ReturnType<World["staleCaches"]>;
  readonly healedMs: number;
}

/** Runs a plan with an invariant that only listens. */
export async function recordRun(plan: FaultPlan, options: RunPlanOptions = {}): Promise<RecordedRun> {
  const records: RunRecord[] = [];
  let world: World | undefined;
  let staleCaches: ReturnType<World["staleCaches"]> = [];
  const listening: Invariant = {
    name: "listening",
    sentence: "Nothing has to hold.",
    watch: (looked) => {
      world = looked;
      return { atRest: () => (staleCaches = looked.staleCaches()) };
    },
  };
  const outcome = await runPlan(plan, {
    freeze: true,
    ...options,
    invariants: [listening, ...(options.invariants ?? [])],
    onRecord: (record) => records.push(record),
  });
  const those = <Type extends RunRecord["type"]>(type: Type): Extract<RunRecord, { type: Type }>[] =>
    records.filter((record): record is Extract<RunRecord, { type: Type }> => record.type === type);
  return {
    outcome,
    changes: those("change").map(({ change }) => change),
    answers: those("answer").map(({ request }) => request),
    decisions: those("decision").map(({ decision }) => decision),
    cacheEvents: those("cache").map(({ event }) => event),
    errors: those("error").map(({ error }) => error),
    notes: those("note").map(({ message }) => message),
    phases: those("scenarioEvent").map(
      ({ scenarioEvent: { index, phase, atMs } }) => `${index} ${phase} ${seconds(atMs)}`,
    ),
    staleCaches,
    healedMs: world!.healedMs - START_MS,
  };
}

/** Returns the seconds since the start. */
export function seconds(atMs: number): number {
  return (atMs - START_MS) / 1000;
}
