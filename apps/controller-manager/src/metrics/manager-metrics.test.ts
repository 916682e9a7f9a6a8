import { expect, test } from "vitest";

import { metricLines, operationsBench } from "../../test/operations-bench.js";

test("case 54: every help text begins with the metric's stability, at both endpoints", async () => {
  const { operations } = await operationsBench();
  operations.metrics.health.checked("ping", "healthz", true);
  const texts = [await operations.metrics.text("text"), await operations.metrics.sliText("text")];
  const helps = texts.flatMap((text) => text.split("\n").filter((line) => line.startsWith("# HELP")));
  expect(helps.length).toBeGreaterThan(15);
  for (const help of helps) expect(help).toMatch(/^# HELP \w+ \[(ALPHA|BETA|STABLE)\] \S/);
});

test("case 55: a disabled metric is absent and counted, and its callers do not notice", async () => {
  const bench = await operationsBench({ disabledMetrics: ["workqueue_depth", "workqueue_depth"] });
  const queue = bench.operations.metrics.common.queues.forQueue("job");
  queue.countAdd();
  queue.setDepth(1);
  expect(await metricLines(bench, "workqueue_depth")).toEqual([]);
  expect(await metricLines(bench, "workqueue_adds_total")).toEqual(['workqueue_adds_total{name="job"} 1']);
  expect(await metricLines(bench, "disabled_metrics_total")).toEqual(["disabled_metrics_total 1"]);
});

test("a label value that is not allowed becomes unexpected", async () => {
  const bench = await operationsBench({
    allowMetricLabels: ["workqueue_adds_total,name='job,cronjob'"],
    allowMetricLabelsManifest: "rest_client_requests_total",
  });
  const { queues } = bench.operations.metrics.common;
  for (const name of ["job", "secret"]) queues.forQueue(name).countAdd();
  expect(await metricLines(bench, "workqueue_adds_total{")).toEqual([
    'workqueue_adds_total{name="job"} 1',
    'workqueue_adds_total{name="unexpected"} 1',
  ]);
  expect(await metricLines(bench, "cardinality")).toEqual([
    "cardinality_enforcement_unexpected_categorizations_total 2",
  ]);
  await expect(operationsBench({ allowMetricLabels: ["nonsense"] })).rejects.toThrow('"nonsense" must be formatted as');
});

test("build and process metrics exist from the start; event counters do not", async () => {
  const bench = await operationsBench({ featureGates: ["WorkloadWithJob=false", "AllBeta=false"] });
  const text = await bench.operations.metrics.text("text");
  for (const line of [
    'version_info{binary="1.36",component="kube",emulation="1.36",min_compat="1.35"} 1',
    'kubernetes_feature_enabled{name="JobManagedBy",stage=""} 1',
    'kubernetes_feature_enabled{name="ComponentFlagz",stage="BETA"} 0',
    'kubernetes_feature_enabled{name="WorkloadWithJob",stage="ALPHA"} 0',
    "process_cpu_seconds_total 1.5",
    "process_open_fds 20",
    "process_max_fds 1024",
    "process_resident_memory_bytes 1.048576e+06",
    "process_start_time_seconds 1.7672256e+09",
    "hidden_metrics_total 0",
  ]) {
    expect(text.split("\n")).toContain(line);
  }
  expect(text).toMatch(
    /^kubernetes_build_info\{.*git_version="v1\.36\+kubewright-0\.0\.0".*major="1",minor="36".*\} 1$/m,
  );
  expect(text).not.toContain("job_controller_job_syncs_total");
  expect(text).not.toContain("workqueue_depth");
  // A second read does not count CPU time twice.
  expect(await metricLines(bench, "process_cpu")).toEqual(["process_cpu_seconds_total 1.5"]);
});

test("each controller's metrics have upstream's names, labels and buckets", async () => {
  const bench = await operationsBench();
  const { job, cronJob, podGC, ttlAfterFinished, garbageCollector } = bench.operations.metrics.controllers;
  const mode = { completion_mode: "Indexed" } as const;
  job.synced({ ...mode, result: "error", action: "tracking" }, 0.01);
  job.jobFinished({ ...mode, result: "failed", reason: "FailedIndexes" });
  job.podsFinished({ ...mode, result: "succeeded" }, 2);
  job.indexesFinished({ status: "failed", backoffLimit: "perIndex" }, 3);
  job.externalJobAdded({ controller_name: "example.com/other" });
  job.podFailuresHandled({ action: "Ignore" }, 4);
  job.terminatedPodTracked({ event: "add" });
  job.podCreated({ reason: "new", status: "failed" });
  job.staleSyncSkipped({ group: "", resource: "pods" });
  cronJob.jobCreationSkew(3);
  podGC.forceDeletedPod({ namespace: "ns", reason: "orphaned" });
  podGC.forceDeletePodError({ namespace: "ns", reason: "terminated" });
  ttlAfterFinished.jobDeletionDuration(0.15);
  garbageCollector.resourcesSyncError();
  const lines = (await bench.operations.metrics.text("text")).split("\n");
  for (const line of [
    'job_controller_job_sync_duration_seconds_bucket{action="tracking",completion_mode="Indexed",result="error",le="0.008"} 0',
    'job_controller_job_sync_duration_seconds_bucket{action="tracking",completion_mode="Indexed",result="error",le="65.536"} 1',
    'job_controller_job_syncs_total{action="tracking",completion_mode="Indexed",result="error"} 1',
    'job_controller_jobs_finished_total{completion_mode="Indexed",reason="FailedIndexes",result="failed"} 1',
    'job_controller_job_pods_finished_total{completion_mode="Indexed",result="succeeded"} 2',
    'job_controller_job_finished_indexes_total{backoffLimit="perIndex",status="failed"} 3',
    'job_controller_jobs_by_external_controller_total{controller_name="example.com/other"} 1',
    'job_controller_pod_failures_handled_by_failure_policy_total{action="Ignore"} 4',
    'job_controller_terminated_pods_tracking_finalizer_total{event="add"} 1',
    'job_controller_job_pods_creation_total{reason="new",status="failed"} 1',
    'job_controller_stale_sync_skips_total{group="",resource="pods"} 1',
    'cronjob_controller_job_creation_skew_duration_seconds_bucket{le="2"} 0',
    'cronjob_controller_job_creation_skew_duration_seconds_bucket{le="512"} 1',
    'pod_gc_collector_force_delete_pods_total{namespace="ns",reason="orphaned"} 1',
    'pod_gc_collector_force_delete_pod_errors_total{namespace="ns",reason="terminated"} 1',
    'ttl_after_finished_controller_job_deletion_duration_seconds_bucket{le="0.2"} 1',
    'ttl_after_finished_controller_job_deletion_duration_seconds_bucket{le="819.2"} 1',
    "garbagecollector_controller_resources_sync_error_total 1",
  ]) {
    expect(lines).toContain(line);
  }
  expect(lines).toContain("# HELP job_controller_job_syncs_total [STABLE] The number of job syncs");
});

test("two managers in one process share no series", async () => {
  const [one, other] = [await operationsBench(), await operationsBench()];
  one.operations.metrics.common.queues.forQueue("job").countAdd();
  expect(await metricLines(one, "workqueue_adds_total{")).toHaveLength(1);
  expect(await metricLines(other, "workqueue_adds_total{")).toEqual([]);
});
