import { expect, test } from "vitest";

import { observeObjects } from "./observe-objects.js";

const at = (time: string): string => `2026-05-01T${time}Z`;
const condition = (type: string, time: string): object => ({ type, status: "True", lastTransitionTime: at(time) });
const job = (name: string, status: object, { owner, spec = {} }: { owner?: string; spec?: object } = {}): object => ({
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: {
    name,
    namespace: "billing",
    ...(owner === undefined ? {} : { ownerReferences: [{ kind: "CronJob", name: owner, controller: true }] }),
  },
  spec,
  status,
});
const complete = (from: string, to: string, others: object = {}): object => ({
  startTime: at(from),
  completionTime: at(to),
  succeeded: 1,
  conditions: [condition("Complete", to)],
  ...others,
});
const failed = (from: string, to: string, count: number): object => ({
  startTime: at(from),
  failed: count,
  conditions: [condition("Failed", to)],
});
const pod = (owner: string, containers: unknown, { metadata = {}, status = {} } = {}): object => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: `${owner}-x`, namespace: "billing", ownerReferences: [{ kind: "Job", name: owner }], ...metadata },
  status: { containerStatuses: containers, ...status },
});
const ended = (from: string | null, to: string, exitCode = 0): object => ({
  terminated: { startedAt: from === null ? "1970-01-01T00:00:00Z" : at(from), finishedAt: at(to), exitCode },
});

const REPORT = { owner: "report" };
test.each([
  [
    "a Job by itself took from its start to its completion",
    [job("report-1", complete("01:00:00", "01:05:00"), REPORT)],
    ["CronJob report 300s"],
  ],
  [
    "for a Job with pods each end of a container is an observation, including restarts",
    [
      job("migrate", complete("01:00:00", "01:05:00")),
      pod("migrate", [
        { name: "c", state: ended("01:02:00", "01:04:50"), lastState: ended("01:00:10", "01:01:00", 3) },
      ]),
    ],
    ["Job migrate c 50s exit 3", "Job migrate c 170s"],
  ],
  [
    "a pod whose Job is not there belongs to whom its name says",
    [pod("report-29540760", [{ name: "c", state: ended("01:00:00", "01:00:07") }])],
    ["CronJob report c 7s"],
  ],
  [
    "deleted or disrupted pods, and pods without an owner, are no observations",
    [
      pod("a", [{ name: "c", state: ended("01:00:00", "01:00:07", 143) }], {
        metadata: { deletionTimestamp: at("01:00:00") },
      }),
      pod("b", [{ name: "c", state: ended("01:00:00", "01:00:07", 137) }], {
        status: { conditions: [condition("DisruptionTarget", "01:00:00")] },
      }),
      pod("c", [{ name: "c", state: ended("01:00:00", "01:00:07") }], { metadata: { ownerReferences: [] } }),
    ],
    [],
  ],
  [
    "a container that could not be started took no time that counts",
    [pod("a", [{ name: "c", state: ended(null, "01:00:00", 128) }])],
    ["Job a c ? exit 128"],
  ],
  [
    "an exit code of Windows",
    [pod("a", [{ name: "c", state: ended("01:00:00", "01:00:07", 3_221_225_477) }])],
    ["Job a c 7s exit 1"],
  ],
  [
    "a Job that ran its pods two at a time",
    [job("a", complete("01:00:00", "01:30:00", { succeeded: 6 }), { spec: { completions: 6, parallelism: 2 } })],
    ["Job a 600s 6 times"],
  ],
  [
    "the length of a Job with retries says nothing of a run",
    [job("a", complete("01:00:00", "01:30:00", { failed: 2 }))],
    ["Job a ?", "Job a ? exit 1 2 times"],
  ],
  ["a failed Job", [job("a", failed("01:00:00", "01:30:00", 7))], ["Job a ? exit 1 7 times"]],
  ["a Job that runs", [job("a", { startTime: at("01:00:00"), active: 1 })], []],
  [
    "failures that outlived the successes around them are left out",
    [
      job("report-1", failed("01:00:00", "01:10:00", 1), REPORT),
      pod("report-1", [{ name: "c", state: ended("01:00:00", "01:09:00", 1) }]),
      job("report-2", complete("02:00:00", "02:10:00"), REPORT),
      job("report-3", failed("03:00:00", "03:10:00", 1), REPORT),
    ],
    ["CronJob report 600s", "CronJob report ? exit 1"],
  ],
  [
    "what is broken",
    [
      pod("a", "none"),
      pod("b", [null]),
      job("d", { conditions: 5 }),
      job("e", { conditions: [null] }),
      job("c", complete("01:00:00", "01:10:00", { failed: "7" })),
    ],
    ["Job c 600s"],
  ],
])("%s", (_title, objects, expected) => {
  const seen = observeObjects(objects as Parameters<typeof observeObjects>[0]);
  const words = seen.map(({ subject: { kind, name }, container, durationMs, exitCode, times = 1 }) =>
    [
      kind,
      name,
      ...(container === undefined ? [] : [container]),
      durationMs === undefined ? "?" : `${durationMs / 1000}s`,
      ...(exitCode === 0 ? [] : [`exit ${exitCode}`]),
      ...(times === 1 ? [] : [`${times} times`]),
    ].join(" "),
  );
  expect(words).toEqual(expected);
});
