import { Counter, Gauge, Histogram, type Registry } from "prom-client";

/** Stability of a metric. The help text begins with it in brackets, as in Kubernetes. */
export type Stability = "ALPHA" | "BETA" | "STABLE";

export interface MetricDefinition<Label extends string = never> {
  readonly name: string;
  readonly help: string;
  /** Default `ALPHA`, as upstream. */
  readonly stability?: Stability;
  readonly labels?: readonly Label[];
}

export interface HistogramDefinition<Label extends string = never> extends MetricDefinition<Label> {
  /** Upper bounds in ascending order; `+Inf` is added. */
  readonly buckets: readonly number[];
}

export interface MetricFamiliesOptions {
  /** Registry for the metrics. One process may have several. */
  readonly registry: Registry;
  /**
   * Names of metrics that are not exposed (upstream: `--disabled-metrics`). Unknown names are ignored. Default: none.
   */
  readonly disabled?: Iterable<string>;
  /** Allowed label values by metric and label (upstream: `--allow-metric-labels`). Default: all values. */
  readonly allowedLabels?: LabelAllowList;
  /** Called each time a label value is not allowed and is replaced by `unexpected`. */
  readonly onUnexpectedLabel?: () => void;
}

/** Allowed values by metric name and label name. */
export type LabelAllowList = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>;

/** Replaces a label value that is not allowed. */
const UNEXPECTED = "unexpected";

/**
 * Creates metrics in one registry, with their stability in the help text.
 *
 * All methods throw an Error that names the metric when the registry already has a metric of that name. Create each
 * metric once and share it.
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

  /** Number of registered metrics by stability, without disabled ones. */
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
    // A disabled metric exists but is not registered, so that callers can record it as usual.
    const registers = this.#disabled.has(name) ? [] : [this.registry];
    if (registers.length > 0) this.#registered.set(stability, (this.#registered.get(stability) ?? 0) + 1);
    return { name, help: `[${stability}] ${help}`, labelNames: labels, registers };
  }

  /** Wraps the recording methods of a metric that has a list of allowed values. Other metrics keep their speed. */
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
