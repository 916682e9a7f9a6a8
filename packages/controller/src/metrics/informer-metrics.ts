import {
  type InformerMetrics,
  type InformerMetricsProvider,
  foreignObjectsDefinition,
  informerMetricDefinitions,
} from "@kubewright/informer";

import type { MetricFamilies } from "./metric-families.js";

const LABELS = { labels: ["name", "group", "version", "resource"] } as const;

/** Creates the three `informer_*` metrics, and with sharding a counter of objects that belong to other shards. */
export function informerMetrics(families: MetricFamilies): InformerMetricsProvider {
  const define = informerMetricDefinitions;
  const queuedItems = families.gauge({ ...define.queuedItems, ...LABELS });
  const processingLatency = families.histogram({ ...define.processingLatency, ...LABELS });
  const storeResourceVersion = families.gauge({ ...define.storeResourceVersion, ...LABELS });

  let foreignObjects: ReturnType<MetricFamilies["counter"]> | undefined;

  const forInformer: InformerMetricsProvider["forInformer"] = ({ name, group, version, resource }): InformerMetrics => {
    const labels = { name, group, version, resource };
    return {
      setQueuedItems: (items) => queuedItems.set(labels, items),
      observeProcessingLatency: (seconds) => processingLatency.observe(labels, seconds),
      setStoreResourceVersion: (latest) => storeResourceVersion.set(labels, latest),
      countForeignObjects: (count) => {
        foreignObjects ??= families.counter({ ...foreignObjectsDefinition, ...LABELS });
        foreignObjects.inc(labels, count);
      },
    };
  };
  return { forInformer };
}
