import { isDeepStrictEqual } from "node:util";

import type { JobSpec } from "@kubewright/api";
import { expect, test } from "vitest";

import { at } from "../test/fixtures.js";
import type { Script } from "../test/scripted-kubelet.js";
import { TestCluster, refusal } from "../test/test-cluster.js";
import { hasTrackingFinalizer } from "./pod-state.js";

/**
 * Each write of the controller fails, in a separate run. It is rejected or gets no response, before or after it takes
 * effect. Or the controller stops there and restarts shortly afterwards with empty memory. In every case the Job has to
 * end as in a run without faults.
 *
 * Events are writes too: KUBEWRIGHT_HEAVY=1 also disturbs these, with every fault, and runs larger Jobs.
 */
const heavy = process.env["KUBEWRIGHT_HEAVY"] === "1";

const SILENCE_MS = 2_000;

interface Case {
  readonly spec: Partial<JobSpec>;
  readonly script: Script;
  /** Patches by the user, keyed by second. */
  readonly user?: Readonly<Record<number, object>>;
}

const size = heavy ? 3 : 1;
const indexOf = (pod: Parameters<Script>[1]): number =>
  Number(pod.metadata.annotations?.["batch.kubernetes.io/job-completion-index"]);
const executionOf = (pod: Parameters<Script>[1]): number =>
  Number(pod.metadata.annotations?.["batch.kubernetes.io/job-index-failure-count"] ?? 0);

const cases: Readonly<Record<string, Case>> = {
  "with completions, one pod failing": {
    spec: { parallelism: 2 * size, completions: 4 * size },
    script: (nth) => ({ readyAfterMs: 2_000, endsAfterMs: 5_000, exitCode: nth === 1 ? 1 : 0 }),
  },
  "as a work queue": {
    spec: { parallelism: 3 * size },
    script: (nth) => ({ endsAfterMs: 4_000 + 2_000 * nth, exitCode: nth === 1 ? 1 : 0 }),
  },
  "with indexes": {
    spec: { completionMode: "Indexed", parallelism: 2 * size, completions: 5 * size },
    // Depends on the index, because a rejected creation changes the order, and only the first execution fails.
    script: (_, pod) => ({
      endsAfterMs: 5_000,
      exitCode: indexOf(pod) === 1 && pod.metadata.creationTimestamp! < at(5) ? 1 : 0,
    }),
  },
  "with a back-off limit per index": {
    spec: { completionMode: "Indexed", parallelism: 3 * size, completions: 3 * size, backoffLimitPerIndex: 1 },
    script: (_, pod) => ({
      endsAfterMs: 5_000,
      exitCode: indexOf(pod) % 3 === 0 || (indexOf(pod) % 3 === 1 && executionOf(pod) === 0) ? 1 : 0,
    }),
  },
  "with a success policy": {
    spec: {
      completionMode: "Indexed",
      parallelism: 4 * size,
      completions: 4 * size,
      successPolicy: { rules: [{ succeededIndexes: "0-1" }] },
    },
    script: (_, pod) => (indexOf(pod) < 2 ? { endsAfterMs: 5_000 } : { readyAfterMs: 1_000 }),
  },
  "with a failure policy": {
    spec: {
      parallelism: 3 * size,
      completions: 3 * size,
      podFailurePolicy: {
        rules: [
          { action: "Ignore", onExitCodes: { operator: "In", values: [7] } },
          { action: "FailJob", onExitCodes: { operator: "In", values: [42] } },
        ],
      },
    },
    script: (nth) =>
      nth === 0 ? { endsAfterMs: 4_000, exitCode: 7 } : nth === 3 * size ? { endsAfterMs: 9_000, exitCode: 42 } : {},
  },
  "suspended and resumed": {
    spec: { parallelism: 2 * size, completions: 2 * size },
    script: (nth) => (nth < 2 * size ? { readyAfterMs: 1_000 } : { endsAfterMs: 20_000 }),
    user: { 8: { spec: { suspend: true } }, 30: { spec: { suspend: false } } },
  },
  "with a deadline": {
    spec: { parallelism: 2 * size, completions: 2 * size, activeDeadlineSeconds: 15 },
    script: (nth) => (nth === 0 ? { endsAfterMs: 5_000 } : { readyAfterMs: 1_000 }),
  },
};

/**
 * What the controller receives in place of the response: a rejection, no response for a while, or no response at all
 * because it crashed.
 */
type Fault = 403 | 409 | 500 | 504 | "silence" | "crash";
const refusals = [403, 409, 500, 504, "silence"] as const;
const reasons = { 403: "Forbidden", 409: "Conflict", 500: "InternalError", 504: "Timeout" };

interface Disturbance {
  /** Number of the write in the run, from 1. */
  readonly write: number;
  /** Whether the fault occurs before or after the write takes effect. */
  readonly when: "before" | "after";
  readonly fault: Fault;
}

interface Run {
  /** The final state of the Job, without times. */
  readonly end: {
    readonly counts: Readonly<Record<string, unknown>>;
    /** Whether start and completion time are set. */
    readonly times: readonly boolean[];
    readonly conditions: readonly (readonly unknown[])[];
    readonly pods: readonly { readonly phase: string | undefined; readonly deleted: boolean }[];
  };
  readonly writes: number;
}

async function simulate({ spec, script, user = {} }: Case, disturbance?: Disturbance): Promise<Run> {
  const cluster = await TestCluster.start({ syncBatchPeriodMs: "adaptive" });
  let writes = 0;
  let crashed = false;
  cluster.network = async (request, serve) => {
    const isWrite = request.method !== "GET" && (heavy || !request.path.includes("/events"));
    // Requests of a crashed process do not arrive.
    if (crashed && request.method !== "GET") throw new Error("the controller is gone");
    if (!isWrite || ++writes !== disturbance?.write) return serve(request);
    const { when, fault } = disturbance;
    const answer = when === "after" ? serve(request) : undefined;
    if (fault === "crash") {
      crashed = true;
      cluster.abort();
      await answer;
      throw new Error("the controller is gone");
    }
    await answer;
    if (fault !== "silence") return refusal(fault, reasons[fault]);
    await new Promise<void>((resume) => cluster.clock.setTimer(SILENCE_MS, resume));
    throw new Error("no answer");
  };
  await cluster.runKubelet(script);
  await cluster.createJob(spec);
  let status = await cluster.status();
  for (let second = 0; second < 200; second++) {
    if (crashed) {
      await cluster.stop();
      crashed = false;
      await cluster.startController();
    }
    const patch = user[second];
    if (patch !== undefined) await cluster.patchJob(patch);
    await cluster.advance(1);
    status = await cluster.status();
    if (status.conditions?.some(({ type }) => type === "Complete" || type === "Failed")) break;
  }
  // The last write may leave pods that no sync will process again: their finalizers have to be removed.
  await cluster.advance(70);
  if (crashed) await cluster.startController();
  await cluster.advance(70);
  const pods = (await cluster.pods()).map((pod) => ({
    phase: pod.status?.phase,
    tracked: hasTrackingFinalizer(pod),
    deleted: pod.metadata.deletionTimestamp !== undefined,
    index: pod.metadata.annotations?.["batch.kubernetes.io/job-completion-index"],
    failures: pod.metadata.annotations?.["batch.kubernetes.io/job-index-failure-count"],
  }));
  const { startTime, completionTime, conditions, ...counts } = await cluster.status();
  await cluster.close();
  const order = (pod: object): string => JSON.stringify(pod);
  return {
    writes,
    end: {
      counts,
      times: [startTime !== undefined, completionTime !== undefined],
      conditions: (conditions ?? []).map(({ type, status: value, reason, message }) => [
        type,
        value,
        reason,
        // Generated names differ between runs.
        message?.replace(/job-\w{5}\b/, "job-*"),
      ]),
      pods: pods.sort((a, b) => order(a).localeCompare(order(b))),
    },
  };
}

/** Returns the disturbances for each write of a run: all faults, or one fault per write in rotation. */
function disturbances(writes: number, faults: readonly Fault[]): Disturbance[] {
  return Array.from({ length: writes }, (_, index) => index + 1).flatMap((write) =>
    (["before", "after"] as const).flatMap((when, late) =>
      (heavy ? faults : [faults[(write + 2 * late) % faults.length]!]).map((fault) => ({ write, when, fault })),
    ),
  );
}

async function differingEnds(testCase: Case, faults: readonly Fault[]): Promise<object[]> {
  const reference = await simulate(testCase);
  expect(reference.writes).toBeGreaterThan(10);
  const found: object[] = [];
  for (const disturbance of disturbances(reference.writes, faults)) {
    const { end } = await simulate(testCase, disturbance);
    if (!isDeepStrictEqual(end, reference.end)) found.push({ ...disturbance, end });
  }
  return found;
}

test.each(Object.entries(cases))(
  "a Job %s ends the same, whichever of its writes the controller does not survive",
  { timeout: 300_000 },
  async (_, testCase) => {
    expect(await differingEnds(testCase, ["crash"])).toEqual([]);
  },
);

test.each(Object.entries(cases))(
  "a Job %s ends the same, whichever of its writes is refused or has no answer",
  { timeout: 300_000 },
  async (_, testCase) => {
    expect(await differingEnds(testCase, refusals)).toEqual([]);
  },
);

test(
  "a Job that succeeds counts every pod that ends well before it is deleted, and none of those it deletes",
  { timeout: 300_000 },
  async () => {
    for (const othersEndAfterMs of [6_200, 6_700, 7_500]) {
      const testCase: Case = {
        spec: {
          completionMode: "Indexed",
          parallelism: 4,
          completions: 4,
          backoffLimit: 0,
          successPolicy: { rules: [{ succeededIndexes: "0-1" }] },
        },
        script: (_, pod) => ({ endsAfterMs: indexOf(pod) < 2 ? 5_000 : othersEndAfterMs }),
      };
      const { writes } = await simulate(testCase);
      for (const disturbance of disturbances(writes, [...refusals, "crash"])) {
        const { counts, conditions, pods } = (await simulate(testCase, disturbance)).end;
        const ended = pods.filter(({ phase, deleted }) => phase === "Succeeded" && !deleted).length;
        expect({ disturbance, othersEndAfterMs, failed: counts["failed"], conditions }).toEqual({
          disturbance,
          othersEndAfterMs,
          failed: undefined,
          conditions: [
            ["SuccessCriteriaMet", "True", "SuccessPolicy", "Matched rules at index 0"],
            ["Complete", "True", "SuccessPolicy", "Matched rules at index 0"],
          ],
        });
        expect(counts["succeeded"], JSON.stringify({ disturbance, othersEndAfterMs })).toBeGreaterThanOrEqual(ended);
      }
    }
  },
);
