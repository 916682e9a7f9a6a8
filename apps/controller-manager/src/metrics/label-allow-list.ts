import type { LabelAllowList } from "@kubewright/controller/metrics";

/**
 * Parses values of `--allow-metric-labels`, each `metric,label='v1,v2'`, and the data of
 * `--allow-metric-labels-manifest` with entries `"metric,label": "v1,v2"`. The flag wins where both contain a label.
 *
 * @throws Error with the invalid part, with upstream's message.
 * @see kubernetes v1.36 staging/src/k8s.io/component-base/metrics/opts.go
 */
export function parseLabelAllowList(
  flags: readonly string[],
  manifest: Readonly<Record<string, unknown>> = {},
): LabelAllowList {
  const lists = new Map<string, Map<string, ReadonlySet<string>>>();
  const add = (key: string, values: string): void => {
    const [metric, label] = parseKey(key);
    const ofMetric = lists.get(metric) ?? new Map<string, ReadonlySet<string>>();
    ofMetric.set(label, new Set(values.split(",").map((value) => value.trim())));
    lists.set(metric, ofMetric);
  };
  for (const [key, values] of Object.entries(manifest)) {
    if (typeof values !== "string") throw new Error(`the allowed values of ${JSON.stringify(key)} must be a text`);
    add(key, values);
  }
  for (const flag of flags) {
    const at = flag.indexOf("=");
    if (at < 0)
      throw new Error(
        `${JSON.stringify(flag)} must be formatted as "metric_name,label_name='allowed_value_1, allowed_value_2, ...'"`,
      );
    add(flag.slice(0, at), flag.slice(at + 1).replace(/^(["'])(.*)\1$/, "$2"));
  }
  return lists;
}

function parseKey(key: string): readonly [metric: string, label: string] {
  const match = /^\s*([a-zA-Z_:][\w:]*),([a-zA-Z_]\w*)\s*$/.exec(key);
  if (match === null)
    throw new Error(`${JSON.stringify(key)} must be a metric's name and a label's, as in metric,label`);
  return [match[1]!, match[2]!];
}
