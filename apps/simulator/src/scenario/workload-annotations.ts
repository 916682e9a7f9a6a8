import type { DeepReadonly, UnstructuredObject } from "@kubewright/api";
import { labelSelectorMatcher, mutableCopy } from "@kubewright/api";
import { WORKLOAD_ANNOTATION_PREFIX } from "@kubewright/fake-kubelet";

import type { Manifest } from "../input/manifest.js";
import type { WorkloadEntry } from "./scenario-file.js";

interface PodTemplate {
  metadata?: { annotations?: Record<string, string> };
  spec?: { containers?: readonly { name?: string }[] };
}

interface JobLike {
  metadata?: { labels?: Record<string, string> };
  spec?: { template?: PodTemplate };
}

/** Whether a manifest is a Job or CronJob that the entry selects. */
export function isSelected(entry: WorkloadEntry, object: DeepReadonly<UnstructuredObject>): boolean {
  const { kind, name, namespace, labels } = entry.select;
  const job = jobOf(object);
  if (job === undefined || (kind !== undefined && kind !== object.kind)) return false;
  if (name !== undefined && name !== object.metadata.name) return false;
  if (namespace !== undefined && namespace !== (object.metadata.namespace ?? "default")) return false;
  return (
    labels === undefined ||
    labelSelectorMatcher({ matchLabels: labels })({ ...job.metadata?.labels, ...object.metadata.labels })
  );
}

/** Names of the containers of a Job's or CronJob's pods. */
export function containersOf(object: DeepReadonly<UnstructuredObject>): string[] {
  return (jobOf(object)?.spec?.template?.spec?.containers ?? []).map(({ name }) => name ?? "");
}

/** The manifest with what the entries say of its containers as an annotation of its pod template. */
export function withWorkloads(manifest: Manifest, entries: readonly WorkloadEntry[]): Manifest {
  const rules = entries.filter((entry) => isSelected(entry, manifest.object)).map(ruleOf);
  if (rules.length === 0) return manifest;
  const object = mutableCopy(manifest.object);
  const template = jobOf(object)?.spec?.template;
  if (template === undefined) return manifest;
  const annotations = {
    ...template.metadata?.annotations,
    [`${WORKLOAD_ANNOTATION_PREFIX}rules`]: JSON.stringify(rules),
  };
  template.metadata = { ...template.metadata, annotations };
  return { ...manifest, object };
}

function jobOf(object: DeepReadonly<UnstructuredObject>): JobLike | undefined {
  if (object.kind === "Job") return object;
  if (object.kind !== "CronJob") return undefined;
  return ((object as unknown as { spec?: { jobTemplate?: JobLike } }).spec ?? {}).jobTemplate;
}

function ruleOf({ select: _select, indexes, attempts, exitCode, ...rest }: WorkloadEntry): object {
  return {
    ...rest,
    ...(indexes === undefined ? {} : { indexes: String(indexes) }),
    ...(attempts === undefined ? {} : { attempts: String(attempts) }),
    ...(exitCode === undefined ? {} : { exitCode: exitCodeText(exitCode) }),
  };
}

/** As the kubelet's annotations have it: `3`, or `0=0.9,137=0.1`. */
export function exitCodeText(exitCode: NonNullable<WorkloadEntry["exitCode"]>): string {
  if (typeof exitCode === "number") return String(exitCode);
  return Object.entries(exitCode)
    .map(([code, share]) => `${code}=${share}`)
    .join(",");
}
