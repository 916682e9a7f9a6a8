import { isDeepStrictEqual } from "node:util";

import type { JobSpec } from "@kubewright/api";
import { expect, test } from "vitest";

import type { Script } from "../test/scripted-kubelet.js";
import { TestCluster } from "../test/test-cluster.js";
import { hasTrackingFinalizer } from "./pod-state.js";

/**
 * The controller is stopped before and after each of its writes, one run each, and started anew a moment later with
 * nothing in memory. Whatever it was doing, the Job has to end as it would have.
 *
 * Events are writes too: KUBEWRIGHT_HEAVY=1 stops at these as well, and runs larger Jobs.
 */
const heavy = process.env["KUBEWRIGHT_HEAVY"] === "1";

interface Case {
  readonly spec: Partial<JobSpec>;
  readonly script: Script;
  /** What the user does, by the second at which. */
  readonly user?: Readonly<Record<number, object>>;
}

const size = heavy ? 3 : 1;
const indexOf = (pod: Parameters<Script>[1]): number =>
  Number(pod.metadata.annotations?.["batch.kubernetes.io/job-completion-index"]);
const attemptOf = (pod: Parameters<Script>[1]): number =>
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
    script: (nth, pod) => ({ endsAfterMs: 5_000, exitCode: nth === 2 && indexOf(pod) >= 0 ? 1 : 0 }),
  },
  "with a back-off limit per index": {
    spec: { completionMode: "Indexed", parallelism: 3 * size, completions: 3 * size, backoffLimitPerIndex: 1 },
    script: (_, pod) => ({
      endsAfterMs: 5_000,
      exitCode: indexOf(pod) % 3 === 0 || (indexOf(pod) % 3 === 1 && attemptOf(pod) === 0) ? 1 : 0,
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

interface Crash {
  /** Counts the writes of the run, from 1. */
  readonly write: number;
  readonly when: "before" | "after";
}

interface Run {
  /** How the Job ended, without times. */
  readonly end: object;
  readonly writes: number;
}

async function play({ spec, script, user = {} }: Case, crash?: Crash): Promise<Run> {
  const cluster = await TestCluster.start({ syncBatchPeriodMs: "adaptive" });
  let writes = 0;
  let crashed = false;
  cluster.intercept = async (request, serve) => {
    const isWrite = request.method !== "GET" && (heavy || !request.path.includes("/events"));
    // What a dead process sends does not arrive.
    if (crashed && request.method !== "GET") throw new Error("the controller is gone");
    if (!isWrite || ++writes !== crash?.write) return serve(request);
    const answer = crash.when === "after" ? serve(request) : undefined;
    crashed = true;
    cluster.abortController();
    await answer;
    throw new Error("the controller is gone");
  };
  await cluster.runKubelet(script);
  await cluster.createJob(spec);
  let status = await cluster.status();
  for (let second = 0; second < 200; second++) {
    if (crashed) {
      await cluster.stopController();
      crashed = false;
      await cluster.startController();
    }
    const patch = user[second];
    if (patch !== undefined) await cluster.patchJob(patch);
    await cluster.advance(1);
    status = await cluster.status();
    if (status.conditions?.some(({ type }) => type === "Complete" || type === "Failed")) break;
  }
  // What the last write leaves: the pods that nobody will look at again have to be free.
  await cluster.advance(70);
  if (crashed) await cluster.startController();
  await cluster.advance(70);
  const pods = (await cluster.pods()).map((pod) => ({
    phase: pod.status?.phase,
    tracked: hasTrackingFinalizer(pod),
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
      conditions: conditions?.map(({ type, status: value, reason, message }) => [
        type,
        value,
        reason,
        // Generated names differ from run to run.
        message?.replace(/job-\w{5}\b/, "job-*"),
      ]),
      pods: pods.sort((a, b) => order(a).localeCompare(order(b))),
    },
  };
}

test.each(Object.entries(cases))(
  "a Job %s ends the same, whichever of its writes the controller does not survive",
  { timeout: 300_000 },
  async (_, played) => {
    const undisturbed = await play(played);
    const differing: object[] = [];
    for (let write = 1; write <= undisturbed.writes; write++) {
      for (const when of ["before", "after"] as const) {
        const { end } = await play(played, { write, when });
        if (!isDeepStrictEqual(end, undisturbed.end)) differing.push({ write, when, end });
      }
    }
    expect(differing).toEqual([]);
    expect(undisturbed.writes).toBeGreaterThan(10);
  },
);
