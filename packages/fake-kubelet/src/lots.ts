import { type DeepReadonly, JOB_COMPLETION_INDEX_ANNOTATION, type Pod, getControllerOf } from "@kubewright/api";
import type { Random } from "@kubewright/clock";

import { drawDuration } from "./duration.js";
import { includesIndex } from "./index-ranges.js";
import type { Workload } from "./workload.js";

/** How one run of a pod's containers goes. */
export interface Attempt {
  readonly durationMs: number;
  readonly exitCode: number;
}

/** Most controllers whose pods are counted; the one not heard of for longest goes first. */
const COUNTERS = 10_000;

/**
 * Draws lots for pods, each from a source of its own.
 *
 * A pod is known by its place among the pods of its controller: "the third pod of Job a for index 2". Its name and UID
 * would not do, since one pod more anywhere in the cluster changes those the server gives out after it. So what befalls
 * a pod depends on nothing but the seed and its own Job's history.
 */
export class Lots {
  readonly #random: Random;
  readonly #counts = new Map<string, number>();

  constructor(random: Random) {
    this.#random = random;
  }

  /** Counts a pod, once, and answers with the name under which lots are drawn for it. */
  identify(pod: DeepReadonly<Pod>): string {
    const { namespace = "", name = "" } = pod.metadata;
    const controller = getControllerOf(pod);
    if (controller === undefined) return `${namespace}/${name}`;
    const index = pod.metadata.annotations?.[JOB_COMPLETION_INDEX_ANNOTATION] ?? "";
    const counter = `${controller.uid}/${index}`;
    const count = this.#counts.get(counter) ?? 0;
    this.#counts.delete(counter);
    this.#counts.set(counter, count + 1);
    if (this.#counts.size > COUNTERS) this.#counts.delete(this.#counts.keys().next().value!);
    return `${namespace}/${controller.kind}/${controller.name}/${index}/${count}`;
  }

  startupDelayMs({ startupDelay }: Workload, identity: string): number {
    const { fromMs, toMs } = startupDelay;
    return fromMs === toMs ? fromMs : drawDuration(startupDelay, this.#random.fork(`${identity}/startup`));
  }

  /** @param number - 0 for the first run, then one more for each restart. */
  attempt(pod: DeepReadonly<Pod>, workload: Workload, identity: string, number: number): Attempt {
    const { duration, failureRate, failingIndexes, exitCode, failureExitCode } = workload;
    const random = this.#random.fork(`${identity}/run/${number}`);
    const durationMs = drawDuration(duration, random);
    const index = pod.metadata.annotations?.[JOB_COMPLETION_INDEX_ANNOTATION];
    const fails = random.next() < failureRate || (index !== undefined && includesIndex(failingIndexes, Number(index)));
    return { durationMs, exitCode: fails ? failureExitCode : exitCode };
  }
}
