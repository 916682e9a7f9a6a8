import type { LabelSelector, Pod, PodSpec } from "@kubewright/api";

import { copyMembers } from "../../json.js";

type Labels = Readonly<Record<string, string>>;
type Affinity = NonNullable<PodSpec["affinity"]>;
type PodAffinity = NonNullable<Affinity["podAffinity"]>;

interface KeyedSelector {
  labelSelector?: LabelSelector;
  matchLabelKeys?: string[];
  mismatchLabelKeys?: string[];
}

/**
 * Adds a pod's label values to the selectors with `matchLabelKeys` or `mismatchLabelKeys`. Parts of the spec may be
 * shared, so they are copied.
 *
 * Upstream: `applyMatchLabelKeysAndMismatchLabelKeys` and `MatchLabelKeysInPodTopologySpreadSelectorMerge` of
 * `pkg/registry/core/pod`.
 */
export function applyMatchLabelKeys(pod: Pod): void {
  const { spec } = pod;
  const labels = pod.metadata.labels ?? {};
  if (spec?.topologySpreadConstraints?.some(hasKeys)) {
    const topologySpreadConstraints = spec.topologySpreadConstraints.map((constraint) =>
      withKeyExpressions(constraint, labels),
    );
    pod.spec = { ...pod.spec!, topologySpreadConstraints };
  }
  if (spec?.affinity === undefined) return;
  const affinity = copyMembers(spec.affinity);
  let isChanged = false;
  for (const kind of ["podAffinity", "podAntiAffinity"] as const) {
    const terms = affinity[kind];
    if (terms === undefined || !termsOf(terms).some(hasKeys)) continue;
    affinity[kind] = withLabels(terms, labels);
    isChanged = true;
  }
  if (isChanged) pod.spec = { ...pod.spec!, affinity };
}

function termsOf(affinity: PodAffinity): readonly KeyedSelector[] {
  const preferred = affinity.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return [
    ...(affinity.requiredDuringSchedulingIgnoredDuringExecution ?? []),
    ...preferred.map(({ podAffinityTerm }) => podAffinityTerm ?? {}),
  ];
}

function withLabels(affinity: PodAffinity, labels: Labels): PodAffinity {
  const result = copyMembers(affinity);
  const required = affinity.requiredDuringSchedulingIgnoredDuringExecution?.map((term) =>
    withKeyExpressions(term, labels),
  );
  if (required !== undefined) result.requiredDuringSchedulingIgnoredDuringExecution = required;
  const preferred = affinity.preferredDuringSchedulingIgnoredDuringExecution?.map((weighted) => ({
    ...weighted,
    podAffinityTerm: withKeyExpressions(weighted.podAffinityTerm, labels),
  }));
  if (preferred !== undefined) result.preferredDuringSchedulingIgnoredDuringExecution = preferred;
  return result;
}

function hasKeys({ matchLabelKeys, mismatchLabelKeys }: KeyedSelector): boolean {
  return (matchLabelKeys?.length ?? 0) > 0 || (mismatchLabelKeys?.length ?? 0) > 0;
}

function withKeyExpressions<T extends KeyedSelector>(term: T, labels: Labels): T {
  const { labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] } = term;
  if (labelSelector === undefined || !hasKeys(term)) return term;
  const expressionsFor = (keys: readonly string[], operator: string): NonNullable<LabelSelector["matchExpressions"]> =>
    keys.filter((key) => Object.hasOwn(labels, key)).map((key) => ({ key, operator, values: [labels[key]!] }));
  const more = [...expressionsFor(matchLabelKeys, "In"), ...expressionsFor(mismatchLabelKeys, "NotIn")];
  if (more.length === 0) return term;
  const matchExpressions = [...(labelSelector.matchExpressions ?? []), ...more];
  return { ...term, labelSelector: { ...labelSelector, matchExpressions } };
}
