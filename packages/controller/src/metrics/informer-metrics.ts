import { type InformerMetrics, type InformerMetricsProvider, informerMetricDefinitions } from "@kubewright/informer";

import type { MetricFamilies } from "./metric-families.js";

const LABELS = { labels: ["name", "group", "version", "resource"] } as const;

/** The three `informer_*` metrics. */
export function informerMetrics(families: MetricFamilies): InformerMetricsProvider {
  const define = informerMetricDefinitions;
  const queuedItems = families.gauge({ ...define.queuedItems, ...LABELS });
  const processingLatency = families.histogram({ ...define.processingLatency, ...LABELS });
  const storeResourceVersion = families.gauge({ ...define.storeResourceVersion, ...LABELS });

  const forInformer: InformerMetricsProvider["forInformer"] = ({ name, group, version, resource }): InformerMetrics => {
    const labels = { name, group, version, resource };
    return {
      setQueuedItems: (items) => queuedItems.set(labels, items),
      observeProcessingLatency: (seconds) => processingLatency.observe(labels, seconds),
      setStoreResourceVersion: (latest) => storeResourceVersion.set(labels, latest),
    };
  };
  return { forInformer };
}
