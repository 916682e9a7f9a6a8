import type { Job, JobSpec } from "@kubewright/api";
import { expect, test } from "vitest";

import { dryRun, failed, indexed, pod, plan, succeeded } from "../test/fixtures.js";
import type { JobPlan } from "./plan-job.js";

const TEMPLATE: JobSpec["template"] = { spec: { restartPolicy: "Never", containers: [] } };

/** Plans a Job without the API server's defaults. */
const planOf = (spec: Partial<JobSpec>, pods: Parameters<typeof plan>[0]["pods"] = []): JobPlan => {
  const job: Job = {
    metadata: { name: "job", namespace: "ns", uid: "job-uid" },
    spec: { template: TEMPLATE, ...spec },
  };
  return plan({ job, pods });
};

const failures = (count: number) => Array.from({ length: count }, (_, number) => failed(`f${number}`, { index: 0 }));

test("without any number a Job is for one pod, once", () => {
  expect(planOf({}).pods?.create).toHaveLength(1);
  expect(planOf({}, [succeeded("a"), pod("b")]).pods).toMatchObject({ action: "pods_deleted" });
  expect(planOf({ parallelism: 2 }, [succeeded("a"), pod("b")]).pods).toMatchObject({ action: "tracking" });
  expect(planOf({ parallelism: null, completions: null } as never).pods?.create).toHaveLength(1);
  expect(planOf({ completions: 3 }).pods?.create).toHaveLength(1);
});

test("a Job gives up after six failures, and one that counts them per index after more than there can be", () => {
  expect(planOf({}, failures(6)).end).toBeUndefined();
  expect(planOf({}, failures(7)).end?.reason).toBe("BackoffLimitExceeded");
  const perIndex: Partial<JobSpec> = { completionMode: "Indexed", completions: 2, backoffLimitPerIndex: 9 };
  expect(planOf(perIndex, failures(7)).end).toBeUndefined();
  expect(planOf({ ...perIndex, backoffLimit: 6 }, failures(7)).end?.reason).toBe("BackoffLimitExceeded");
});

test("an index is read as Go reads numbers: with a sign, with leading zeros, and no other way", () => {
  const succeededIndexes = (...indexes: string[]) =>
    plan({ job: indexed(20), pods: indexes.map((index, number) => succeeded(`s${number}`, { index })) }).indexes
      ?.succeeded;
  expect(succeededIndexes("-0")).toEqual([{ first: 0, last: 0 }]);
  expect(succeededIndexes("+3", "05")).toEqual([
    { first: 3, last: 3 },
    { first: 5, last: 5 },
  ]);
  expect(succeededIndexes(" 1", "2 ", "0x3", "4_0", "5.0", "6e0", "", "+", "-", "--7", "-8", "٩")).toEqual([]);
});

test("an index beyond what fits into 64 bits is none: such pods lose their finalizer first, those beyond the completions last", () => {
  const pods = ["9223372036854775807", "1", "9223372036854775808"].map((index) => succeeded(`s${index}`, { index }));
  expect(dryRun({ job: indexed(3), pods }).finalizersRemoved).toEqual([
    "s9223372036854775808",
    "s1",
    "s9223372036854775807",
  ]);
});
