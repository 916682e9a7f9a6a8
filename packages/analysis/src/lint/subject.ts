import type { CronJob, DeepReadonly, JobSpec } from "@kubewright/api";
import type { YamlPath } from "@kubewright/apiserver/yaml";
import { workloadOf } from "@kubewright/cluster/kubelet";

import type { Manifest } from "../input/manifest.js";
import { hasDuration } from "@kubewright/simulation";

/** A CronJob, or a Job without a CronJob, from a manifest. Its fields may have wrong types. */
export interface Subject {
  readonly kind: "CronJob" | "Job";
  readonly namespace: string;
  readonly name: string;
  readonly manifest: Manifest;
  /** Spec of the CronJob; absent for a Job. */
  readonly cronJob?: NonNullable<DeepReadonly<CronJob>["spec"]>;
  readonly job: DeepReadonly<JobSpec>;
  /** Path of `job`. */
  readonly jobPath: YamlPath;
  /** Duration of its runs; absent when it is unknown. */
  readonly runs?: RunLength;
}

/** Bounds of the duration in milliseconds, for runs without failures. */
export interface RunLength {
  readonly minMs: number;
  readonly maxMs: number;
}

/** Returns the CronJobs and Jobs of the manifests, in order. Jobs that a CronJob created are excluded. */
export function subjectsOf(manifests: readonly Manifest[]): Subject[] {
  return manifests.flatMap((manifest) => {
    const { apiVersion = "", kind, metadata } = manifest.object;
    if (!apiVersion.startsWith("batch/") || (kind !== "CronJob" && kind !== "Job")) return [];
    if (metadata.ownerReferences?.some(({ controller }) => controller === true)) return [];
    const spec = record(manifest.object["spec"]);
    const job = kind === "Job" ? spec : record(record(spec["jobTemplate"])["spec"]);
    const runs = hasDuration(manifest.object) ? runLength(job as DeepReadonly<JobSpec>) : undefined;
    return [
      {
        kind,
        namespace: metadata.namespace ?? "default",
        name: metadata.name ?? metadata.generateName ?? "",
        manifest,
        ...(kind === "CronJob" ? { cronJob: spec as unknown as NonNullable<Subject["cronJob"]> } : {}),
        job: job as DeepReadonly<JobSpec>,
        jobPath: kind === "Job" ? ["spec"] : ["spec", "jobTemplate", "spec"],
        ...(runs === undefined ? {} : { runs }),
      },
    ];
  });
}

/** Returns the value if it is a number. */
export function numberIn(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

/** Returns the duration of a run without failed pods. Pods run in rounds, each as long as its longest container. */
function runLength(job: DeepReadonly<JobSpec>): RunLength {
  const texts = Object.entries(record(job.template?.metadata?.annotations)).filter(
    ([, text]) => typeof text === "string",
  );
  const { workload } = workloadOf({ metadata: { annotations: Object.fromEntries(texts) as Record<string, string> } });
  const ranges = (workload.rules ?? []).flatMap(({ duration, container, indexes, attempts }) =>
    duration === undefined ? [] : [{ ...duration, all: !container && !indexes && !attempts }],
  );
  // Of several general rules the last counts; a rule for some containers, indexes or attempts may not apply.
  const general = ranges.findLast(({ all }) => all) ?? workload.duration;
  const special = ranges.filter(({ all }) => !all);
  const parallelism = numberIn(job.parallelism) ?? 1;
  const rounds = Math.max(1, Math.ceil((numberIn(job.completions) ?? 1) / Math.max(1, parallelism)));
  const capMs = (numberIn(job.activeDeadlineSeconds) ?? Infinity) * 1000;
  const mayFail = workload.failureRate > 0 || workload.exitCode !== 0;
  return {
    minMs: Math.min(capMs, Math.min(general.fromMs, ...special.map(({ fromMs }) => fromMs)) * (mayFail ? 1 : rounds)),
    maxMs: Math.min(capMs, Math.max(general.toMs, ...special.map(({ toMs }) => toMs)) * rounds),
  };
}
