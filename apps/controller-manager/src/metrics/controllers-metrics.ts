import type { MetricFamilies, Stability } from "@kubewright/controller/metrics";
import type { CronJobMetrics } from "@kubewright/cronjob";
import type { GarbageCollectorMetrics } from "@kubewright/garbage-collector";
import { type JobMetrics, jobMetricDefinitions } from "@kubewright/job";
import type { PodGCMetrics } from "@kubewright/podgc";
import type { TTLAfterFinishedMetrics } from "@kubewright/ttl-after-finished";

/** The metrics that the controllers record themselves. */
export interface ControllersMetrics {
  readonly job: JobMetrics;
  readonly cronJob: CronJobMetrics;
  readonly podGC: PodGCMetrics;
  readonly ttlAfterFinished: TTLAfterFinishedMetrics;
  readonly garbageCollector: GarbageCollectorMetrics;
}

export function controllersMetrics(families: MetricFamilies): ControllersMetrics {
  return {
    job: jobMetrics(families),
    cronJob: cronJobMetrics(families),
    podGC: podGCMetrics(families),
    ttlAfterFinished: ttlAfterFinishedMetrics(families),
    garbageCollector: garbageCollectorMetrics(families),
  };
}

function jobMetrics(families: MetricFamilies): JobMetrics {
  const define = jobMetricDefinitions;
  const counter = <Label extends string>({ name, help, labels }: Definition<Label>) => {
    const family = families.counter<Label>({ name, ...splitStability(help), labels });
    return (of: Readonly<Record<Label, string>>, count?: number): void => family.inc({ ...of }, count);
  };
  const { name, help, labels, buckets } = define.syncDuration;
  const duration = families.histogram({ name, ...splitStability(help), labels, buckets });
  const countSync = counter(define.syncs);
  return {
    synced(of, seconds) {
      duration.observe({ ...of }, seconds);
      countSync({ ...of });
    },
    jobFinished: counter(define.jobsFinished),
    podsFinished: counter(define.podsFinished),
    indexesFinished: counter(define.indexesFinished),
    externalJobAdded: counter(define.externalJobs),
    podFailuresHandled: counter(define.podFailuresHandled),
    terminatedPodTracked: counter(define.terminatedPodsTracked),
    podCreated: counter(define.podsCreated),
    staleSyncSkipped: counter(define.staleSyncsSkipped),
  };
}

interface Definition<Label extends string> {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly Label[];
}

/** Splits `[STABLE] The number of …` into stability and help. */
function splitStability(text: string): { stability: Stability; help: string } {
  const [, stability = "ALPHA", help = text] = /^\[(ALPHA|BETA|STABLE)\] ([^]*)$/.exec(text) ?? [];
  return { stability: stability as Stability, help };
}

/** @see kubernetes v1.36 pkg/controller/cronjob/metrics/metrics.go */
function cronJobMetrics(families: MetricFamilies): CronJobMetrics {
  const skew = families.histogram({
    name: "cronjob_controller_job_creation_skew_duration_seconds",
    help: "Time between when a cronjob is scheduled to be run, and when the corresponding job is created",
    stability: "STABLE",
    buckets: doublingBuckets(1, 10),
  });
  return { jobCreationSkew: (seconds) => skew.observe(seconds) };
}

/** @see kubernetes v1.36 pkg/controller/podgc/metrics/metrics.go */
function podGCMetrics(families: MetricFamilies): PodGCMetrics {
  const labels = ["namespace", "reason"] as const;
  const deleted = families.counter({
    name: "pod_gc_collector_force_delete_pods_total",
    help: "Number of pods that are being forcefully deleted since the Pod GC Controller started.",
    labels,
  });
  const errors = families.counter({
    name: "pod_gc_collector_force_delete_pod_errors_total",
    help: "Number of errors encountered when forcefully deleting the pods since the Pod GC Controller started.",
    labels,
  });
  return {
    forceDeletedPod: (of) => deleted.inc({ ...of }),
    forceDeletePodError: (of) => errors.inc({ ...of }),
  };
}

/** @see kubernetes v1.36 pkg/controller/ttlafterfinished/metrics/metrics.go */
function ttlAfterFinishedMetrics(families: MetricFamilies): TTLAfterFinishedMetrics {
  const duration = families.histogram({
    name: "ttl_after_finished_controller_job_deletion_duration_seconds",
    help: "The time it took to delete the job since it became eligible for deletion",
    buckets: doublingBuckets(0.1, 14),
  });
  return { jobDeletionDuration: (seconds) => duration.observe(seconds) };
}

/** @see kubernetes v1.36 pkg/controller/garbagecollector/metrics/metrics.go */
function garbageCollectorMetrics(families: MetricFamilies): GarbageCollectorMetrics {
  const errors = families.counter({
    name: "garbagecollector_controller_resources_sync_error_total",
    help: "Number of garbage collector resources sync errors",
  });
  return { resourcesSyncError: () => errors.inc() };
}

/** Bounds that double, as Prometheus' `ExponentialBuckets(first, 2, count)`. */
export function doublingBuckets(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, power) => first * 2 ** power);
}
