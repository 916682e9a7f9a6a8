import { cronJobs, jobs } from "@kubewright/api";
import { startTestCluster } from "@kubewright/testing";
import "@kubewright/testing/vitest";
import { describe, expect, test } from "vitest";

import { type Report, reportOperator, reports } from "./report-operator.ts";

describe.each(["in-process", "serve"] as const)("the report operator, %s", (against) => {
  /** A cluster one minute before the time of the Report `sales`, with the operator. */
  async function start(spec: Partial<Report["spec"]> = {}) {
    const cluster = await startTestCluster({ against, crds: [reports.crd], start: "2026-01-01T02:29:00Z" });
    const operator = await cluster.run(reportOperator);
    const report = reports.make({ metadata: { name: "sales" }, spec: { at: "02:30", image: "report:1", ...spec } });
    const sales = await cluster.create(reports, report);
    await cluster.eventually(() => expect(sales).toOwn(cronJobs, 1), { within: "5s" });
    const cronJob = cluster.object(cronJobs, "sales");
    return { cluster, operator, sales, cronJob, [Symbol.asyncDispose]: () => cluster.stop() };
  }

  test("a Report gets a CronJob, and shows when its last run succeeded", async () => {
    await using started = await start();
    const { cluster, operator, sales, cronJob } = started;
    expect((await cronJob.get()).spec).toMatchObject({ schedule: "30 2 * * *", timeZone: "Etc/UTC", suspend: false });
    await expect(sales).toHaveCondition("Scheduled", "True", { reason: "CronJobApplied" });
    const { status } = await cluster.eventually(
      async () => {
        const report = await sales.get();
        return report.status?.lastReport !== undefined && report;
      },
      { within: "3m" },
    );
    expect(status?.lastReport).toMatch(/^2026-01-01T02:30:/);
    expect(operator.errors).toEqual([]);
  });

  test("a changed time changes the schedule, and a paused Report has no runs", async () => {
    await using started = await start();
    const { cluster, sales, cronJob } = started;
    await sales.patch({ spec: { at: "02:31", paused: true } });
    await cluster.eventually(() => expect(sales).toHaveCondition("Scheduled", "False", { reason: "Paused" }));
    expect((await cronJob.get()).spec).toMatchObject({ schedule: "31 2 * * *", suspend: true });
    await cluster.advance("3m");
    await expect(cronJob).toOwn(jobs, 0);
  });

  test("a CronJob that a user changes or deletes is restored", async () => {
    await using started = await start();
    const { cluster, sales, cronJob } = started;
    await cronJob.patch({ spec: { schedule: "0 0 1 1 *" } });
    await cluster.eventually(async () => (await cronJob.get()).spec.schedule === "30 2 * * *", { within: "5s" });
    await cronJob.delete();
    await cluster.eventually(() => expect(sales).toOwn(cronJobs, 1), { within: "5s" });
  });

  test("the CronJob is deleted with its Report", async () => {
    await using started = await start();
    const { cluster, sales, cronJob } = started;
    await sales.delete();
    await cluster.eventually(() => expect(cronJob).toBeGone(), { within: "1m" });
  });
});
