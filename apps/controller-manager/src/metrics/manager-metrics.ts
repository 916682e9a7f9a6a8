import { ControllerMetrics, MetricFamilies, type LabelAllowList, healthMetrics } from "@kubewright/controller/metrics";
import type { HealthMetrics } from "@kubewright/controller";
import { Registry } from "prom-client";

import { type BuildMetricsOptions, buildMetrics } from "./build-metrics.js";
import { type ControllersMetrics, controllersMetrics } from "./controllers-metrics.js";
import { type ExpositionFormat, exposition } from "./exposition.js";
import { type ProcessStats, processMetrics, startTimeMetric } from "./process-metrics.js";
import { type ServingMetrics, servingMetrics } from "./serving-metrics.js";

export interface ManagerMetricsOptions extends BuildMetricsOptions {
  readonly readProcess: () => ProcessStats;
  /** Values of `--disabled-metrics`. Default: none. */
  readonly disabled?: readonly string[];
  readonly allowedLabels?: LabelAllowList;
}

/** All metrics of this process: one registry for `/metrics`, one for `/metrics/slis`. Create one per process. */
export class ManagerMetrics {
  /** Metrics of queues, informers, leader election and API clients. */
  readonly common: ControllerMetrics;
  readonly controllers: ControllersMetrics;
  readonly serving: ServingMetrics;
  readonly health: HealthMetrics;
  readonly #registry = new Registry();
  readonly #sliRegistry = new Registry();
  readonly #refresh: () => void;
  readonly #refreshSlis: () => void;

  constructor({ readProcess, disabled = [], allowedLabels, ...build }: ManagerMetricsOptions) {
    const registry = this.#registry;
    const own = new MetricFamilies({ registry, disabled });
    const unexpected = own.counter({
      name: "cardinality_enforcement_unexpected_categorizations_total",
      help: "The count of unexpected categorizations during cardinality enforcement.",
    });
    const lists = {
      disabled,
      ...(allowedLabels === undefined ? {} : { allowedLabels, onUnexpectedLabel: () => unexpected.inc() }),
    };
    this.common = new ControllerMetrics({ registry, ...lists });
    this.controllers = controllersMetrics(this.common);
    this.serving = servingMetrics(this.common);
    this.#refresh = processMetrics(this.common, readProcess);
    buildMetrics(this.common, build);

    const slis = new MetricFamilies({ registry: this.#sliRegistry, ...lists });
    this.health = healthMetrics(slis);
    this.#refreshSlis = startTimeMetric(slis, readProcess);
    countMetrics(own, [own, this.common, slis], new Set(disabled).size);
  }

  /** The body of `/metrics`. */
  async text(format: ExpositionFormat): Promise<string> {
    this.#refresh();
    return exposition(this.#registry, format);
  }

  /** The body of `/metrics/slis`. */
  async sliText(format: ExpositionFormat): Promise<string> {
    this.#refreshSlis();
    return exposition(this.#sliRegistry, format);
  }

  resetSlis(): void {
    this.#sliRegistry.resetMetrics();
  }
}

/** Registers the metrics about metrics, last, so that they count themselves. */
function countMetrics(own: MetricFamilies, all: readonly MetricFamilies[], disabledCount: number): void {
  const disabled = own.counter({
    name: "disabled_metrics_total",
    help: "The count of disabled metrics.",
    stability: "BETA",
  });
  own.counter({ name: "hidden_metrics_total", help: "The count of hidden metrics.", stability: "BETA" });
  const registered = own.counter({
    name: "registered_metrics_total",
    help: "The count of registered metrics broken by stability level and deprecation version.",
    stability: "BETA",
    labels: ["stability_level", "deprecated_version"],
  });
  disabled.inc(disabledCount);
  for (const families of all) {
    for (const [stability, count] of families.registered)
      registered.inc({ stability_level: stability, deprecated_version: "" }, count);
  }
}
