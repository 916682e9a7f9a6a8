import { objectKey } from "@kubewright/api";
import { expect, test } from "vitest";

import type { TraceRecord } from "../run/trace.js";
import { RefusalFollower, type Refusals } from "./refusals.js";

const at = (second: number): string => new Date(second * 1000).toISOString();

const refusedPods = (second: number, uid: string, creating: number, resources = "pods=1"): TraceRecord => ({
  type: "decision",
  at: at(second),
  controller: "job-controller",
  decision: {
    key: objectKey({ namespace: "default", name: uid }),
    uid,
    action: "pods_created",
    statusWrites: 1,
    reasons: [],
    creating,
    error: `pods "${uid}-x" is forbidden: exceeded quota: q, requested: ${resources}, used: pods=3, limited: pods=3`,
  },
});

const refusedRun = (second: number, jobName: string): TraceRecord => ({
  type: "decision",
  at: at(second),
  controller: "cronjob-controller",
  decision: {
    key: objectKey({ namespace: "default", name: "report" }),
    atMs: second * 1000,
    outcome: "failed",
    reason: "createFailed",
    message: `jobs.batch "${jobName}" is forbidden: exceeded quota: q, requested: count/jobs.batch=1, used: count/jobs.batch=2, limited: count/jobs.batch=2`,
    jobName,
    missed: [],
  },
});

const pod = (
  second: number,
  change: "ADDED" | "MODIFIED" | "DELETED",
  uid: string,
  { owner, unschedulable, node }: { owner?: string; unschedulable?: string; node?: string } = {},
): TraceRecord => ({
  type: "object",
  kind: "Pod",
  at: at(second),
  change,
  namespace: "default",
  name: uid,
  uid,
  ...(owner === undefined ? {} : { owner: { kind: "Job", name: owner, uid: owner } }),
  state: {
    phase: "Pending",
    ...(unschedulable === undefined ? {} : { unschedulable }),
    ...(node === undefined ? {} : { node }),
  },
});

const job = (second: number, uid: string): TraceRecord => ({
  type: "object",
  kind: "Job",
  at: at(second),
  change: "DELETED",
  namespace: "default",
  name: uid,
  uid,
  state: { active: 0, succeeded: 1, failed: 0 },
});

function follow(records: readonly TraceRecord[]): Refusals {
  const follower = new RefusalFollower();
  for (const record of records) follower.add(record);
  return follower.refusals;
}

test("for a Job the maximum of missing pods counts, for any number of retries and after its deletion", () => {
  const records = [
    // Two of five pods are created in the same instant, before and after the refusal of a third.
    pod(1, "ADDED", "a-1", { owner: "a" }),
    refusedPods(1, "a", 5, "limits.cpu=500m,pods=1"),
    pod(1, "ADDED", "a-2", { owner: "a" }),
    refusedPods(2, "a", 3),
    refusedPods(4, "a", 2),
    refusedPods(4, "b", 1),
    pod(9, "ADDED", "b-1", { owner: "b" }),
    job(10, "a"),
  ];
  expect(follow(records).quotas).toEqual([
    { namespace: "default", quota: "q", resource: "limits.cpu", pods: 3, jobs: 0 },
    { namespace: "default", quota: "q", resource: "pods", pods: 4, jobs: 0 },
  ]);
});

test("a refused run of a CronJob counts once for all retries, and the next run counts separately", () => {
  const records = [refusedRun(1, "r-1"), refusedRun(2, "r-1"), refusedRun(60, "r-2"), refusedRun(61, "r-2")];
  expect(follow(records).quotas).toEqual([
    { namespace: "default", quota: "q", resource: "count/jobs.batch", pods: 0, jobs: 2 },
  ]);
});

test("a waiting pod counts once for each reason, for any numbers in the message", () => {
  const records = [
    pod(1, "ADDED", "p", { unschedulable: "0/3 nodes are available: 3 Insufficient cpu." }),
    pod(2, "MODIFIED", "p", { unschedulable: "0/3 nodes are available: 1 Too many pods, 2 Insufficient cpu." }),
    pod(3, "MODIFIED", "p", { node: "node-1" }),
    pod(4, "ADDED", "q", { unschedulable: "0/3 nodes are available: 3 Insufficient cpu." }),
    pod(5, "ADDED", "r", { unschedulable: "no nodes available to schedule pods" }),
  ];
  expect(follow(records).nodes).toEqual([
    { reason: "Insufficient cpu", pods: 2 },
    { reason: "Too many pods", pods: 1 },
    { reason: "no nodes available to schedule pods", pods: 1 },
  ]);
});

test("refusals for other reasons are not counted for a quota", () => {
  const forbidden = refusedPods(1, "a", 2) as Extract<TraceRecord, { type: "decision"; controller: "job-controller" }>;
  const decision = { ...forbidden.decision, error: 'pods "a-x" is forbidden: minimum cpu usage per Container is 1' };
  expect(follow([{ ...forbidden, decision }])).toEqual({ quotas: [], nodes: [] });
});
