import { type DeepReadonly, JOB_COMPLETION_INDEX_ANNOTATION, type Pod, getControllerOf } from "@kubewright/api";
import type { Random } from "@kubewright/clock";

import { drawDuration } from "./duration.js";
import { drawExitCode } from "./exit-codes.js";
import { includesIndex } from "./index-ranges.js";
import { behaviourOf } from "./workload-rules.js";
import type { Workload } from "./workload.js";

/** The outcome of one run of a pod's containers. They start together; the run ends with the last of them. */
export interface PodExecution {
  readonly durationMs: number;
  /** The exit code of the first failing container in the pod's order, otherwise 0. */
  readonly exitCode: number;
  /** The outcome of each container, in the pod's order. Absent: all containers have the same outcome. */
  readonly containers?: readonly ContainerOutcome[];
}

export interface ContainerOutcome {
  readonly name: string;
  readonly durationMs: number;
  readonly exitCode: number;
}

/** Identifies a pod for sampling. */
export interface PodIdentity {
  readonly label: string;
  /** Index among the pods of its controller, and of its completion index if it has one: 0 for the first. */
  readonly ordinal: number;
}

/** Number of recent controllers whose pods are counted; at most twice as many are stored. */
const MIN_COUNTERS = 10_000;

/**
 * Samples the outcomes of pods, each from its own random source.
 *
 * A pod is identified by its index among the pods of its controller: "the third pod of Job a for index 2". Names and
 * UIDs cannot be used, because an additional pod anywhere in the cluster changes all that the server generates after
 * it. So the outcome of a pod depends only on the seed and the history of its Job.
 */
export class PodOutcomeSampler {
  readonly #random: Random;
  /** Counts of recent controllers. At {@link MIN_COUNTERS} entries they replace the older counts, which are dropped. */
  #counts = new Map<string, number>();
  #olderCounts = new Map<string, number>();

  constructor(random: Random) {
    this.#random = random;
  }

  /** Counts a pod, and returns its identity. Call it once for each pod. */
  identify(pod: DeepReadonly<Pod>): PodIdentity {
    const { namespace = "", name = "" } = pod.metadata;
    const controller = getControllerOf(pod);
    if (controller === undefined) return { label: `${namespace}/${name}`, ordinal: 0 };
    const index = pod.metadata.annotations?.[JOB_COMPLETION_INDEX_ANNOTATION] ?? "";
    const counter = index === "" ? controller.uid : `${controller.uid}/${index}`;
    const count = this.#counts.get(counter) ?? this.#olderCounts.get(counter) ?? 0;
    this.#counts.set(counter, count + 1);
    if (this.#counts.size >= MIN_COUNTERS) {
      this.#olderCounts = this.#counts;
      this.#counts = new Map();
    }
    return { label: `${namespace}/${controller.kind}/${controller.name}/${index}/${count}`, ordinal: count };
  }

  startupDelayMs({ startupDelay }: Workload, { label }: PodIdentity): number {
    const { fromMs, toMs, spread } = startupDelay;
    if (fromMs === toMs && spread === undefined) return fromMs;
    return drawDuration(startupDelay, this.#random.fork(`${label}/startup`));
  }

  /** Returns the workload with the rules that apply to the pod as a whole. */
  resolveWorkload(pod: DeepReadonly<Pod>, workload: Workload, { ordinal }: PodIdentity): Workload {
    if (workload.rules === undefined) return workload;
    const { startupDelay, ignoreSigterm } = behaviourOf(workload, { index: indexOf(pod), attempt: ordinal + 1 });
    return { ...workload, startupDelay, ignoreSigterm };
  }

  /** @param restart - 0 for the first run, then the number of the restart. */
  sampleExecution(
    pod: DeepReadonly<Pod>,
    workload: Workload,
    { label, ordinal }: PodIdentity,
    restart: number,
  ): PodExecution {
    const source = `${label}/run/${restart}`;
    const index = indexOf(pod);
    const attempt = ordinal + restart + 1;
    if (workload.rules === undefined) return this.#sample(workload, index, source);
    // The first container has the same source as a single container.
    const containers = (pod.spec?.containers ?? []).map(({ name }, place): ContainerOutcome => {
      const behaviour = behaviourOf(workload, { container: name, index, attempt });
      return { name, ...this.#sample(behaviour, index, place === 0 ? source : `${source}/${name}`) };
    });
    return {
      durationMs: containers.reduce((longest, { durationMs }) => Math.max(longest, durationMs), 0),
      exitCode: containers.find(({ exitCode }) => exitCode !== 0)?.exitCode ?? 0,
      containers,
    };
  }

  #sample(
    { duration, failureRate, failingIndexes, exitCode, failureExitCode }: Workload,
    index: number | undefined,
    source: string,
  ): { readonly durationMs: number; readonly exitCode: number } {
    const failsByIndex = index !== undefined && includesIndex(failingIndexes, index);
    // A fixed outcome needs no random source, which takes time to create.
    if (duration.fromMs === duration.toMs && duration.spread === undefined && failureRate === 0) {
      const certain = failsByIndex ? failureExitCode : exitCode;
      if (typeof certain === "number") return { durationMs: Math.round(duration.fromMs), exitCode: certain };
    }
    const random = this.#random.fork(source);
    const durationMs = drawDuration(duration, random);
    const fails = random.next() < failureRate || failsByIndex;
    return { durationMs, exitCode: fails ? failureExitCode : drawExitCode(exitCode, random) };
  }
}

function indexOf(pod: DeepReadonly<Pod>): number | undefined {
  const index = pod.metadata.annotations?.[JOB_COMPLETION_INDEX_ANNOTATION];
  return index === undefined ? undefined : Number(index);
}
