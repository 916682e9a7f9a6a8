import type { DeepReadonly } from "./readonly.js";
import type { LabelSelector } from "./types.js";

type Labels = Readonly<Record<string, string>> | undefined;

/** Returns whether a set of labels matches a selector. */
export type LabelMatcher = (labels: Labels) => boolean;

/**
 * Compiles a `metav1.LabelSelector` (upstream: `metav1.LabelSelectorAsSelector`).
 *
 * An absent selector matches nothing. An empty selector matches everything.
 *
 * @throws Error naming the operator when it is not `In`, `NotIn`, `Exists` or `DoesNotExist`.
 */
export function labelSelectorMatcher(selector: DeepReadonly<LabelSelector> | undefined): LabelMatcher {
  if (selector === undefined) return () => false;
  const { matchLabels, matchExpressions } = selector;
  const hasLabels: LabelMatcher = (labels) => matchLabels == null || includesLabels(labels, matchLabels);
  if (matchExpressions == null || matchExpressions.length === 0) return hasLabels;
  const requirements = [hasLabels];
  for (const { key, operator, values = [] } of matchExpressions) {
    const allowed = new Set(values);
    const has = (labels: Labels): boolean => labels !== undefined && Object.hasOwn(labels, key);
    switch (operator) {
      case "In":
        requirements.push((labels) => has(labels) && allowed.has(labels![key]!));
        break;
      case "NotIn":
        requirements.push((labels) => !has(labels) || !allowed.has(labels![key]!));
        break;
      case "Exists":
        requirements.push(has);
        break;
      case "DoesNotExist":
        requirements.push((labels) => !has(labels));
        break;
      default:
        throw new Error(`${JSON.stringify(operator)} is not a valid label selector operator`);
    }
  }
  return (labels) => requirements.every((matches) => matches(labels));
}

function includesLabels(labels: Labels, wanted: Readonly<Record<string, string>>): boolean {
  for (const key in wanted)
    if (labels === undefined || !Object.hasOwn(labels, key) || labels[key] !== wanted[key]) return false;
  return true;
}

/**
 * Formats a selector in query syntax, as in `labelSelector=` and `kubectl get -l`, sorted by key (upstream:
 * `metav1.FormatLabelSelector`).
 */
export function formatLabelSelector(selector: DeepReadonly<LabelSelector> | undefined): string {
  const terms = Object.entries(selector?.matchLabels ?? {}).map(([key, value]) => ({ key, text: `${key}=${value}` }));
  for (const { key, operator, values = [] } of selector?.matchExpressions ?? []) {
    const list = `(${[...values].sort().join(",")})`;
    if (operator === "In") terms.push({ key, text: `${key} in ${list}` });
    else if (operator === "NotIn") terms.push({ key, text: `${key} notin ${list}` });
    else terms.push({ key, text: operator === "Exists" ? key : `!${key}` });
  }
  terms.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  return terms.map(({ text }) => text).join(",");
}
