import type { JobMetrics } from "../src/job-metrics.js";

/** Sums the counts by metric and label values. For syncs it counts the calls. */
export class CountedMetrics implements JobMetrics {
  readonly counts: Record<string, number> = {};
  /** All series, including those with count zero. */
  readonly series = new Set<string>();
  readonly syncSeconds: number[] = [];

  readonly synced: JobMetrics["synced"] = (labels, seconds) => {
    this.syncSeconds.push(seconds);
    this.#count("synced", labels);
  };
  readonly jobFinished: JobMetrics["jobFinished"] = (labels) => this.#count("jobFinished", labels);
  readonly podsFinished: JobMetrics["podsFinished"] = (labels, count) => this.#count("podsFinished", labels, count);
  readonly indexesFinished: JobMetrics["indexesFinished"] = (labels, count) =>
    this.#count("indexesFinished", labels, count);
  readonly externalJobAdded: JobMetrics["externalJobAdded"] = (labels) => this.#count("externalJobAdded", labels);
  readonly podFailuresHandled: JobMetrics["podFailuresHandled"] = (labels, count) =>
    this.#count("podFailuresHandled", labels, count);
  readonly terminatedPodTracked: JobMetrics["terminatedPodTracked"] = (labels) =>
    this.#count("terminatedPodTracked", labels);
  readonly podCreated: JobMetrics["podCreated"] = (labels) => this.#count("podCreated", labels);
  readonly staleSyncSkipped: JobMetrics["staleSyncSkipped"] = (labels) => this.#count("staleSyncSkipped", labels);

  /** Returns the counts since the last call. */
  take(): Record<string, number> {
    const counts = { ...this.counts };
    for (const name of Object.keys(this.counts)) delete this.counts[name];
    return counts;
  }

  #count(metric: string, labels: object, count = 1): void {
    if (!(count >= 0)) throw new RangeError(`${metric} would be lowered by ${count}`);
    const name = [metric, ...Object.values(labels)].join(" ");
    this.series.add(name);
    if (count === 0) return;
    this.counts[name] = (this.counts[name] ?? 0) + count;
  }
}
