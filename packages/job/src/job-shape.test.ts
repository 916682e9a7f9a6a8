import type { Job } from "@kubewright/api";
import { mutableCopy } from "@kubewright/api";
import { TerminalError } from "@kubewright/controller";
import { expect, test } from "vitest";

import { job } from "../test/fixtures.js";
import { SyncBench } from "../test/sync-bench.js";
import { TestCluster } from "../test/test-cluster.js";

const misshapen = (change: (job: Record<"spec" | "status", Record<string, unknown>>) => void): Job => {
  const copy = mutableCopy(job({}, { status: { startTime: "2026-01-01T00:00:00Z" } })) as Job;
  change(copy as never);
  return copy;
};

test.each<[string, Parameters<typeof misshapen>[0], string]>([
  ["no spec", (of) => delete (of as Partial<typeof of>).spec, "spec must be an object, but is missing"],
  [
    "a count that is text",
    ({ spec }) => (spec["parallelism"] = "many"),
    'spec.parallelism must be an integer, but is "many"',
  ],
  ["a fraction of a pod", ({ spec }) => (spec["completions"] = 1.5), "spec.completions must be an integer, but is 1.5"],
  ...(["backoffLimit", "backoffLimitPerIndex", "maxFailedIndexes", "activeDeadlineSeconds"] as const).map(
    (field): [string, Parameters<typeof misshapen>[0], string] => [
      `a ${field} that is text`,
      ({ spec }) => (spec[field] = "1"),
      `spec.${field} must be an integer, but is "1"`,
    ],
  ),
  ["no template", ({ spec }) => delete spec["template"], "spec.template must be an object, but is missing"],
  [
    "conditions that are no list",
    ({ status }) => (status["conditions"] = {}),
    "status.conditions must be a list, but is {}",
  ],
  [
    "an unknown operator in the selector",
    ({ spec }) => (spec["selector"] = { matchExpressions: [{ key: "a", operator: "Near" }] }),
    '"Near" is not a valid label selector operator',
  ],
  [
    "rules that are no list",
    ({ spec }) => (spec["podFailurePolicy"] = { rules: "none" }),
    'spec.podFailurePolicy.rules must be a list, but is "none"',
  ],
  [
    "a set of indexes longer than anything stored",
    ({ spec, status }) => {
      Object.assign(spec, { completionMode: "Indexed", completions: 5 });
      status["completedIndexes"] = "0,2,".repeat(2 ** 22);
    },
    "a set of indexes of 16777216 characters is not read: at most 8388608 are",
  ],
])("a Job with %s is refused by name, and not tried again", async (_, change, message) => {
  const bench = new SyncBench(misshapen(change));
  const error = await bench.sync();
  expect(error).toBeInstanceOf(TerminalError);
  expect(error?.message).toContain("Job ns/job cannot be understood: ");
  expect(error?.message).toContain(message);
  expect(bench.calls).toEqual([]);
});

test("a set of two thousand million indexes costs no more than one of two", async () => {
  const bench = new SyncBench(
    misshapen(({ spec, status }) => {
      Object.assign(spec, { completionMode: "Indexed", completions: 2 ** 31 - 1 });
      Object.assign(status, { completedIndexes: "1-2147483645", succeeded: 2 ** 31 - 3 });
    }),
  );
  expect(await bench.sync()).toBeUndefined();
  expect(bench.calls).toEqual(["POST job-0-", "PUT status"]);
});

test("a misshapen Job is logged once, by name, and disturbs no other", async () => {
  const cluster = await TestCluster.start({
    // As if the server had returned it in this form.
    transform: (object) => (object.metadata.name === "bad" ? { ...object, spec: undefined } : object),
  });
  await cluster.createJob({}, { name: "bad" });
  await cluster.createJob();
  await cluster.advance(120);
  expect(await cluster.pods()).toHaveLength(1);
  expect(cluster.logged.filter(({ level }) => level === "error")).toEqual([
    {
      level: "error",
      message: "syncing job",
      fields: {
        controller: "job-controller",
        key: "default/bad",
        err: "Job default/bad cannot be understood: spec must be an object, but is missing",
        willRetry: false,
      },
    },
  ]);
  await cluster.close();
});

test("the controller logs when it starts and when it has stopped", async () => {
  const cluster = await TestCluster.start();
  await cluster.close();
  expect(cluster.logged.map(({ level, message }) => `${level} ${message}`)).toEqual([
    "info Starting job controller",
    "info Shutting down job controller",
  ]);
});
