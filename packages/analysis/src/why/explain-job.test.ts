import { type Event, type Job, type JobSpec, type JobStatus, type Pod, deepFreeze } from "@kubewright/api";
import { expect, test } from "vitest";

import { styleFor } from "../text/style.js";
import { type JobExplanation, explainJob } from "./explain-job.js";
import { jobText } from "./job-text.js";

const ms = (time: string): number => Date.parse(`2026-03-02T${time}Z`);
const at = (time: string): string => `2026-03-02T${time}Z`;

function job(spec: Partial<JobSpec> = {}, status: JobStatus = {}, metadata: Partial<Job["metadata"]> = {}): Job {
  return {
    metadata: { name: "work", namespace: "ns", uid: "u", creationTimestamp: at("10:00:00"), ...metadata },
    spec: {
      completions: 1,
      parallelism: 1,
      backoffLimit: 6,
      selector: { matchLabels: { job: "work" } },
      template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "a" }] } },
      ...spec,
    },
    status: { startTime: at("10:00:00"), ...status },
  };
}

interface PodShape {
  readonly phase?: string;
  readonly exitCode?: number;
  readonly finished?: string;
  readonly counted?: boolean;
  readonly status?: Pod["status"];
}

function pod(name: string, { phase = "Running", exitCode, finished, counted = false, status }: PodShape = {}): Pod {
  const terminated = finished !== undefined && {
    terminated: { exitCode: exitCode ?? 0, startedAt: at("10:00:01"), finishedAt: at(finished) },
  };
  return {
    metadata: {
      name,
      namespace: "ns",
      uid: `uid-${name}`,
      creationTimestamp: at("10:00:00"),
      labels: { job: "work" },
      ownerReferences: [{ apiVersion: "batch/v1", kind: "Job", name: "work", uid: "u", controller: true }],
      ...(counted ? {} : { finalizers: ["batch.kubernetes.io/job-tracking"] }),
    },
    spec: { containers: [{ name: "c", image: "a" }], nodeName: "node-1" },
    status: {
      phase,
      containerStatuses: [
        {
          name: "c",
          image: "",
          imageID: "",
          ready: false,
          restartCount: 0,
          state: terminated || { running: { startedAt: at("10:00:01") } },
        },
      ],
      ...status,
    },
  };
}

function explain(
  of: Job,
  now: string,
  pods: readonly Pod[] | undefined = [],
  events: readonly Event[] = [],
): JobExplanation {
  return explainJob(deepFreeze({ job: of, pods: pods && [...pods], events: [...events], nowMs: ms(now) }));
}

const reasonsOf = ({ now }: JobExplanation): string[] => now.map(({ reason }) => reason);

test("backing off: how long, after how many failures, and that a restart would cut it short", () => {
  const failedPods = [
    pod("a", { phase: "Failed", exitCode: 3, finished: "10:00:10", counted: true }),
    pod("b", { phase: "Failed", exitCode: 3, finished: "10:00:40", counted: true }),
  ];
  const explained = explain(job({}, { failed: 2 }), "10:00:45", failedPods);
  expect(explained.now).toEqual([
    { reason: "Backoff", message: "waiting 15 s before replacing a failed pod (2 failures since the last success)" },
  ]);
  expect(explained.wakeMs).toBe(ms("10:01:00"));
  expect(explained.pods?.map(({ name, exitCode }) => [name, exitCode])).toEqual([
    ["a", 3],
    ["b", 3],
  ]);
  expect(explained.notes).toContainEqual(expect.stringContaining("in memory only"));
});

test("a deadline shows when the Job will fail", () => {
  const explained = explain(job({ activeDeadlineSeconds: 600 }), "10:05:00", [pod("a")]);
  expect(explained).toMatchObject({ state: "Running", deadlineMs: ms("10:10:00"), wakeMs: ms("10:10:00") });
  expect(jobText(explained, { style: styleFor(false), width: 120 })).toContain(
    "Next      activeDeadlineSeconds ends it Mon 2026-03-02 10:10 UTC, in 5m",
  );
});

test("a finished Job shows how it ended and when it is deleted", () => {
  const condition = {
    type: "Failed",
    status: "True",
    reason: "BackoffLimitExceeded",
    message: "too often",
    lastTransitionTime: at("10:04:00"),
  };
  const explained = explain(job({ ttlSecondsAfterFinished: 3600 }, { conditions: [condition], failed: 7 }), "10:05:00");
  expect(explained).toMatchObject({
    state: "Failed",
    condition: { reason: "BackoffLimitExceeded", message: "too often" },
    endMs: ms("10:04:00"),
    deletionMs: ms("11:04:00"),
  });
  expect(reasonsOf(explained)).toEqual(["finished"]);
});

test.each([
  ["left to another controller", job({ managedBy: "example.com/queue" }), "managedElsewhere", "ManagedElsewhere"],
  ["suspended", job({ suspend: true }), "Suspended", "Suspended"],
  ["not readable", job({ parallelism: "2" as unknown as number }), "unreadable", "Running"],
  [
    "being deleted",
    job({}, {}, { deletionTimestamp: at("10:01:00"), finalizers: ["foregroundDeletion"] }),
    "JobBeingDeleted",
    "Deleting",
  ],
])("a Job that is %s says so", (_title, of, reason, state) => {
  const explained = explain(of, "10:05:00");
  expect(reasonsOf(explained)).toEqual([reason]);
  expect(explained.state).toBe(state);
});

test("failed indexes are listed, and those that wait for a retry", () => {
  const indexed = (name: string, index: string, shape: PodShape): Pod => {
    const made = pod(name, shape);
    return {
      ...made,
      metadata: { ...made.metadata, annotations: { "batch.kubernetes.io/job-completion-index": index } },
    };
  };
  const of = job(
    { completionMode: "Indexed", completions: 3, parallelism: 3, backoffLimitPerIndex: 1 },
    { failed: 1, failedIndexes: "0" },
  );
  const explained = explain(of, "10:00:15", [
    indexed("a", "1", {}),
    indexed("b", "2", { phase: "Failed", exitCode: 1, finished: "10:00:10" }),
  ]);
  expect(explained.counts).toMatchObject({ failedIndexes: "0", backoffLimitPerIndex: 1 });
  expect(explained.now[0]).toEqual({ reason: "IndexBackoff", message: "waiting 5 s before retrying index 2" });
  expect(explained.notes).toContain("pod b has ended and is not in the Job's counts yet");
});

test("a success policy that is met ends the Job, and its other pods with it", () => {
  const done = pod("a", { phase: "Succeeded", finished: "10:00:10" });
  const first = {
    ...done,
    metadata: { ...done.metadata, annotations: { "batch.kubernetes.io/job-completion-index": "0" } },
  };
  const of = job({
    completionMode: "Indexed",
    completions: 2,
    parallelism: 2,
    successPolicy: { rules: [{ succeededIndexes: "0" }] },
  });
  const running = pod("b");
  const second = {
    ...running,
    metadata: { ...running.metadata, annotations: { "batch.kubernetes.io/job-completion-index": "1" } },
  };
  const explained = explain(of, "10:00:15", [first, second]);
  expect(explained.now[0]).toEqual({
    reason: "Ending",
    message: "succeeding: SuccessPolicy: Matched rules at index 0; deleting 1 active pod",
  });
});

test("a pod that cannot be scheduled shows the reason, with the scheduler's event", () => {
  const waiting = pod("a", {
    phase: "Pending",
    status: {
      phase: "Pending",
      containerStatuses: [],
      conditions: [
        { type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0/3 nodes are available" },
      ],
    },
  });
  const event: Event = {
    metadata: { name: "e" },
    involvedObject: { kind: "Pod", name: "a" },
    type: "Warning",
    reason: "FailedScheduling",
    message: "0/3 nodes are available",
    lastTimestamp: at("10:00:02"),
  };
  const text = jobText(explain(job(), "10:00:15", [waiting], [event]), { style: styleFor(false), width: 140 });
  expect(text).toContain("Unschedulable: 0/3 nodes are available");
  expect(text).toContain("! FailedScheduling: Pod a: 0/3 nodes are available");
});

test("without permission to read pods the rest is explained, and a note says so", () => {
  const explained = explainJob({
    job: job({ activeDeadlineSeconds: 600 }),
    pods: undefined,
    events: undefined,
    nowMs: ms("10:05:00"),
  });
  expect(explained.now).toEqual([{ reason: "unknown", message: "unknown without its pods" }]);
  expect(explained.pods).toBeUndefined();
  expect(explained.wakeMs).toBe(ms("10:10:00"));
  expect(explained.notes).toHaveLength(2);
});

test("missing pods mean that no controller is running", () => {
  const explained = explain(job(), "10:05:00");
  expect(explained.now).toEqual([{ reason: "Creating", message: "creating 1 pod: 0 active, 1 wanted" }]);
  expect(explained.notes).toContainEqual(expect.stringContaining("no controller is running"));
});
