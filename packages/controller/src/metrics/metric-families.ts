import { Counter, Gauge, Histogram, type Registry } from "prom-client";

/** How much a metric may still change; shown in brackets before its help text, as Kubernetes does. */
export type Stability = "ALPHA" | "BETA" | "STABLE";

export interface MetricDefinition<Label extends string = never> {
  readonly name: string;
  readonly help: string;
  /** Default `ALPHA`, as upstream. */
  readonly stability?: Stability;
  readonly labels?: readonly Label[];
}

export interface HistogramDefinition<Label extends string = never> extends MetricDefinition<Label> {
  /** Upper bounds, rising; `+Inf` is added. */
  readonly buckets: readonly number[];
}

export interface MetricFamiliesOptions {
  /** Where the metrics are registered. One process may have many. */
  readonly registry: Registry;
  /** Names of metrics that are not shown (upstream: `--disabled-metrics`). Unknown ones mean nothing. Default: none. */
  readonly disabled?: Iterable<string>;
}

/**
 * Makes metrics in one registry, with their stability in the help text.
 *
 * All methods throw an Error that names the metric when the registry has one of that name already: make each once and
 * hand it on.
 */
export class MetricFamilies {
  readonly registry: Registry;
  readonly #disabled: ReadonlySet<string>;

  constructor({ registry, disabled = [] }: MetricFamiliesOptions) {
    this.registry = registry;
    this.#disabled = new Set(disabled);
  }

  counter<Label extends string = never>(definition: MetricDefinition<Label>): Counter<Label> {
    return new Counter(this.#configuration(definition));
  }

  gauge<Label extends string = never>(definition: MetricDefinition<Label>): Gauge<Label> {
    return new Gauge(this.#configuration(definition));
  }

  histogram<Label extends string = never>(definition: HistogramDefinition<Label>): Histogram<Label> {
    return new Histogram({ ...this.#configuration(definition), buckets: [...definition.buckets] });
  }

  #configuration<Label extends string>({ name, help, stability = "ALPHA", labels = [] }: MetricDefinition<Label>) {
    // A disabled metric is kept, unregistered, so that whoever feeds it need not know.
    const registers = this.#disabled.has(name) ? [] : [this.registry];
    return { name, help: `[${stability}] ${help}`, labelNames: labels, registers };
  }
}
