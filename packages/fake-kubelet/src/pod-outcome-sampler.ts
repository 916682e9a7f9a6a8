import { type DeepReadonly, JOB_COMPLETION_INDEX_ANNOTATION, type Pod, getControllerOf } from "@kubewright/api";
import type { Random } from "@kubewright/clock";

import { drawDuration } from "./duration.js";
import { drawExitCode } from "./exit-codes.js";
import { includesIndex } from "./index-ranges.js";
import { behaviourOf } from "./workload-rules.js";
import type { Workload } from "./workload.js";

/** How one run of a pod's containers goes. They start together; the run ends with the last of them. */
export interface PodExecution {
  readonly durationMs: number;
  /** The pod's: of the first container by order that fails, else 0. */
  readonly exitCode: number;
  /** Each container's own, in the pod's order. Absent: all do the same. */
  readonly containers?: readonly ContainerOutcome[];
}

export interface ContainerOutcome {
  readonly name: string;
  readonly durationMs: number;
  readonly exitCode: number;
}

/** What a pod is known by when lots are drawn. */
export interface PodIdentity {
  readonly label: string;
  /** Its place among the pods of its controller, and of its index if it has one: 0 for the first. */
  readonly ordinal: number;
}

/** Least number of controllers, of those heard of last, whose pods are counted; at most, twice as many are. */
const MIN_COUNTERS = 10_000;

/**
 * Draws lots for pods, each from a source of its own.
 *
 * A pod is known by its place among the pods of its controller: "the third pod of Job a for index 2". Its name and UID
 * would not do, since one pod more anywhere in the cluster changes those the server gives out after it. So what befalls
 * a pod depends on nothing but the seed and its own Job's history.
 */
export class PodOutcomeSampler {
  readonly #random: Random;
  /** Of controllers heard of last. When they are {@link MIN_COUNTERS}, they replace the older ones, who are forgotten all at once. */
  #counts = new Map<string, number>();
  #olderCounts = new Map<string, number>();

  constructor(random: Random) {
    this.#random = random;
  }

  /** Counts a pod, once, and answers with what lots are drawn for it under. */
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

  /** The workload as this pod has it: what its rules say of the pod as a whole is settled. */
  resolveWorkload(pod: DeepReadonly<Pod>, workload: Workload, { ordinal }: PodIdentity): Workload {
    if (workload.rules === undefined) return workload;
    const { startupDelay, ignoreSigterm } = behaviourOf(workload, { index: indexOf(pod), attempt: ordinal + 1 });
    return { ...workload, startupDelay, ignoreSigterm };
  }

  /** @restart restart - 0 for the first run, then one more for each restart. */
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
    // The first container draws what it would if it were alone.
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
    // A source takes time to make: none is asked where all is certain.
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
