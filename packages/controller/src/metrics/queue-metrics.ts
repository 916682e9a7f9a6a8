import { type QueueMetrics, type QueueMetricsProvider, queueMetricDefinitions } from "@kubewright/workqueue";

import type { MetricFamilies } from "./metric-families.js";

const FORM = { stability: "BETA", labels: ["name"] } as const;

/** Ages of several queues with the same name. */
interface SharedAges {
  readonly unfinishedSeconds: number[];
  readonly longestSeconds: number[];
}

/**
 * Creates the seven `workqueue_*` metrics. The series of a queue exist, at zero, from its construction on.
 *
 * Queues with the same name share their series, for example those of one controller in several namespaces. The series
 * add up their items and unfinished work, and report the longest wait of all.
 */
export function queueMetrics(families: MetricFamilies): QueueMetricsProvider {
  const define = queueMetricDefinitions;
  const depth = families.gauge({ ...define.depth, ...FORM });
  const adds = families.counter({ ...define.adds, ...FORM });
  const queueDuration = families.histogram({ ...define.queueDuration, ...FORM });
  const workDuration = families.histogram({ ...define.workDuration, ...FORM });
  const unfinishedWork = families.gauge({ ...define.unfinishedWork, ...FORM });
  const longestRunningProcessor = families.gauge({ ...define.longestRunningProcessor, ...FORM });
  const retries = families.counter({ ...define.retries, ...FORM });
  const ages = new Map<string, SharedAges>();

  const forQueue = (name: string): QueueMetrics => {
    const labels = { name };
    const shared = ages.get(name) ?? { unfinishedSeconds: [], longestSeconds: [] };
    if (!ages.has(name)) {
      ages.set(name, shared);
      for (const gauge of [depth, unfinishedWork, longestRunningProcessor]) gauge.set(labels, 0);
      for (const counter of [adds, retries]) counter.inc(labels, 0);
      for (const histogram of [queueDuration, workDuration]) histogram.zero(labels);
    }
    const index = shared.unfinishedSeconds.push(0) - 1;
    shared.longestSeconds.push(0);
    let shownItems = 0;
    return {
      setDepth(items) {
        depth.inc(labels, items - shownItems);
        shownItems = items;
      },
      countAdd: () => adds.inc(labels),
      observeQueueDuration: (seconds) => queueDuration.observe(labels, seconds),
      observeWorkDuration: (seconds) => workDuration.observe(labels, seconds),
      setUnfinishedWork(seconds) {
        shared.unfinishedSeconds[index] = seconds;
        unfinishedWork.set(
          labels,
          shared.unfinishedSeconds.reduce((total, each) => total + each, 0),
        );
      },
      setLongestRunningProcessor(seconds) {
        shared.longestSeconds[index] = seconds;
        longestRunningProcessor.set(labels, Math.max(...shared.longestSeconds));
      },
      countRetry: () => retries.inc(labels),
    };
  };
  return { forQueue };
}
