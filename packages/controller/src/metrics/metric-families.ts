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
  /** Values that labels may have, by metric and label (upstream: `--allow-metric-labels`). Default: any. */
  readonly allowedLabels?: LabelAllowList;
  /** Told each time a label had a value that is not allowed, and was counted as `unexpected`. */
  readonly onUnexpectedLabel?: () => void;
}

/** Metric, label, values. */
export type LabelAllowList = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>;

/** What a label's value is shown as when it is not allowed. */
const UNEXPECTED = "unexpected";

/**
 * Makes metrics in one registry, with their stability in the help text.
 *
 * All methods throw an Error that names the metric when the registry has one of that name already: make each once and
 * hand it on.
 */
export class MetricFamilies {
  readonly registry: Registry;
  readonly #disabled: ReadonlySet<string>;
  readonly #allowedLabels: LabelAllowList;
  readonly #onUnexpectedLabel: (() => void) | undefined;
  readonly #registered = new Map<Stability, number>();

  constructor({ registry, disabled = [], allowedLabels = new Map(), onUnexpectedLabel }: MetricFamiliesOptions) {
    this.registry = registry;
    this.#disabled = new Set(disabled);
    this.#allowedLabels = allowedLabels;
    this.#onUnexpectedLabel = onUnexpectedLabel;
  }

  /** How many metrics of each stability were registered so far; disabled ones are not. */
  get registered(): ReadonlyMap<Stability, number> {
    return this.#registered;
  }

  counter<Label extends string = never>(definition: MetricDefinition<Label>): Counter<Label> {
    return this.#withAllowedLabels(new Counter(this.#configuration(definition)), definition, ["inc"]);
  }

  gauge<Label extends string = never>(definition: MetricDefinition<Label>): Gauge<Label> {
    return this.#withAllowedLabels(new Gauge(this.#configuration(definition)), definition, ["set", "inc", "dec"]);
  }

  histogram<Label extends string = never>(definition: HistogramDefinition<Label>): Histogram<Label> {
    const histogram = new Histogram({ ...this.#configuration(definition), buckets: [...definition.buckets] });
    return this.#withAllowedLabels(histogram, definition, ["observe", "zero"]);
  }

  #configuration<Label extends string>({ name, help, stability = "ALPHA", labels = [] }: MetricDefinition<Label>) {
    // A disabled metric is kept, unregistered, so that whoever feeds it need not know.
    const registers = this.#disabled.has(name) ? [] : [this.registry];
    if (registers.length > 0) this.#registered.set(stability, (this.#registered.get(stability) ?? 0) + 1);
    return { name, help: `[${stability}] ${help}`, labelNames: labels, registers };
  }

  /** Only a metric with a list of allowed values pays for the comparison. */
  #withAllowedLabels<M extends object, Label extends string>(
    metric: M,
    { name }: MetricDefinition<Label>,
    methods: readonly (keyof M)[],
  ): M {
    const allowed = this.#allowedLabels.get(name);
    if (allowed === undefined) return metric;
    const checked = (labels: Readonly<Record<string, string | number>>): Record<string, string | number> => {
      const shown = { ...labels };
      for (const [label, values] of allowed) {
        if (shown[label] === undefined || values.has(String(shown[label]))) continue;
        shown[label] = UNEXPECTED;
        this.#onUnexpectedLabel?.();
      }
      return shown;
    };
    for (const method of methods) {
      const record = (metric[method] as (...args: unknown[]) => void).bind(metric);
      const guard = (first: unknown, ...rest: unknown[]): void =>
        record(typeof first === "object" && first !== null ? checked(first as Record<string, string>) : first, ...rest);
      Object.assign(metric, { [method]: guard });
    }
    return metric;
  }
}
