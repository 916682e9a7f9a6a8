import { comparePodsForDeletion } from "@kubewright/controller";

import { type JobObject, type PodObject, indexCount, isIndexed } from "./job-spec.js";
import { validIndexOf } from "./pod-state.js";

/**
 * Chooses at least `atLeast` active pods to delete, in upstream's deletion order. For an indexed Job it always includes
 * pods without a valid index, and pods that share their index with a better pod.
 *
 * Upstream: indexed_job_utils.go, job_controller.go activePodsForRemoval.
 */
export function choosePodsToDelete(job: JobObject, active: readonly PodObject[], atLeast: number): PodObject[] {
  if (!isIndexed(job)) return atLeast <= 0 ? [] : rank(active).slice(0, atLeast);
  const { useless, useful } = splitByIndex(active, indexCount(job));
  if (useless.length >= atLeast) return useless;
  return [...useless, ...rank(useful).slice(0, atLeast - useless.length)];
}

function splitByIndex(
  active: readonly PodObject[],
  completions: number,
): { useless: PodObject[]; useful: PodObject[] } {
  const useless: PodObject[] = [];
  const beyond: PodObject[] = [];
  const byIndex = new Map<number, PodObject[]>();
  for (const pod of active) {
    const index = validIndexOf(pod, completions);
    if (index === undefined) {
      beyond.push(pod);
      continue;
    }
    const others = byIndex.get(index);
    if (others === undefined) byIndex.set(index, [pod]);
    else others.push(pod);
  }
  const useful: PodObject[] = [];
  for (const pods of byIndex.values()) {
    const ranked = pods.length === 1 ? pods : rank(pods);
    useful.push(ranked.at(-1)!);
    useless.push(...ranked.slice(0, -1));
  }
  return { useless: [...beyond, ...useless], useful };
}

/** Sorts pods, the first to delete first. The sort is stable, so ties keep their order. */
function rank(pods: readonly PodObject[]): PodObject[] {
  return [...pods].sort(comparePodsForDeletion);
}
