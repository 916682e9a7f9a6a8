import { type QueueMetrics, type QueueMetricsProvider, queueMetricDefinitions } from "@kubewright/workqueue";

import type { MetricFamilies } from "./metric-families.js";

const FORM = { stability: "BETA", labels: ["name"] } as const;

/** The seven `workqueue_*` metrics. A queue's series exist, at zero, from its construction on. */
export function queueMetrics(families: MetricFamilies): QueueMetricsProvider {
  const define = queueMetricDefinitions;
  const depth = families.gauge({ ...define.depth, ...FORM });
  const adds = families.counter({ ...define.adds, ...FORM });
  const queueDuration = families.histogram({ ...define.queueDuration, ...FORM });
  const workDuration = families.histogram({ ...define.workDuration, ...FORM });
  const unfinishedWork = families.gauge({ ...define.unfinishedWork, ...FORM });
  const longestRunningProcessor = families.gauge({ ...define.longestRunningProcessor, ...FORM });
  const retries = families.counter({ ...define.retries, ...FORM });

  const forQueue = (name: string): QueueMetrics => {
    const labels = { name };
    for (const gauge of [depth, unfinishedWork, longestRunningProcessor]) gauge.set(labels, 0);
    for (const counter of [adds, retries]) counter.inc(labels, 0);
    for (const histogram of [queueDuration, workDuration]) histogram.zero(labels);
    return {
      setDepth: (items) => depth.set(labels, items),
      countAdd: () => adds.inc(labels),
      observeQueueDuration: (seconds) => queueDuration.observe(labels, seconds),
      observeWorkDuration: (seconds) => workDuration.observe(labels, seconds),
      setUnfinishedWork: (seconds) => unfinishedWork.set(labels, seconds),
      setLongestRunningProcessor: (seconds) => longestRunningProcessor.set(labels, seconds),
      countRetry: () => retries.inc(labels),
    };
  };
  return { forQueue };
}
