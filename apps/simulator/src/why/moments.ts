import { type DeepReadonly, type Event, type KubernetesObject, parseTime } from "@kubewright/api";

import { formatDuration } from "../duration.js";
import type { ZonedClock } from "../zoned-clock.js";

/** How much the clocks of a cluster may differ before it is worth a word. */
const SKEW_MS = 60_000;

/** When the latest of these was made or, for an event, seen last. */
export function newestMs(objects: readonly DeepReadonly<KubernetesObject | Event>[]): number {
  const times = objects.map((object) => {
    const createdMs = parseTime(object.metadata.creationTimestamp) ?? Number.NEGATIVE_INFINITY;
    const seenMs = "lastTimestamp" in object ? parseTime(object.lastTimestamp) : undefined;
    return Math.max(createdMs, seenMs ?? createdMs);
  });
  return times.reduce((latest, timeMs) => Math.max(latest, timeMs), Number.NEGATIVE_INFINITY);
}

/**
 * The cluster's time: the server's, unless the cluster holds entries from well after it. Then its clock is not the one
 * that dates the answers, as with `kubewright serve` on a faster or a manual clock, and the newest entry tells more.
 */
export function clusterNowMs(serverMs: number, newestEntryMs: number): number {
  return newestEntryMs > serverMs + SKEW_MS ? newestEntryMs : serverMs;
}

/** Entries from after the time that is explained. */
export function skewNotes(timesMs: readonly number[], clock: ZonedClock, nowMs: number): string[] {
  const latestMs = timesMs.reduce((latest, timeMs) => Math.max(latest, timeMs), Number.NEGATIVE_INFINITY);
  if (latestMs <= nowMs + SKEW_MS) return [];
  return [
    `the cluster holds entries from after this time, up to ${formatDuration(latestMs - nowMs)} later (${clock.brief(latestMs)}): give its own time with --at`,
  ];
}

/** `4m5s ago`, `in 2h`, `now`. */
export function relative(timeMs: number, nowMs: number): string {
  const distanceMs = Math.abs(timeMs - nowMs);
  if (distanceMs < 1000) return "now";
  return timeMs > nowMs ? `in ${formatDuration(distanceMs)}` : `${formatDuration(distanceMs)} ago`;
}
