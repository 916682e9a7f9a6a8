import { closest } from "@kubewright/simulation";

/** A kind that the cluster serves. */
export interface ServedKind {
  readonly apiVersion: string;
  readonly kind: string;
}

/**
 * Describes the mistake in a kind that the cluster does not serve; `undefined` for a kind that another API server may
 * serve, which is no mistake.
 */
export function kindProblem({ apiVersion, kind }: ServedKind, served: readonly ServedKind[]): string | undefined {
  const group = groupOf(apiVersion);
  const ofGroup = served.filter((each) => groupOf(each.apiVersion) === group);
  if (ofGroup.length > 0) {
    const same = ofGroup.find((each) => each.kind === kind);
    if (same !== undefined) return `there is no ${kind} in ${apiVersion}; write apiVersion: ${same.apiVersion}`;
    const meant = closest(
      kind,
      ofGroup.map((each) => each.kind),
      2,
    );
    if (meant !== undefined) return `there is no kind ${kind} in ${apiVersion}; did you mean ${meant}?`;
  }
  // Groups of custom resources have their own domain, and may have kinds called Job.
  if (group.includes(".") && !group.endsWith(".k8s.io")) return undefined;
  const elsewhere = served.find((each) => each.kind === kind);
  return elsewhere === undefined
    ? undefined
    : `there is no ${kind} in ${apiVersion}; write apiVersion: ${elsewhere.apiVersion}`;
}

function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf("/");
  return slash < 0 ? "" : apiVersion.slice(0, slash);
}

/** Formats `3 Deployments, 1 NetworkPolicy`, the most frequent first. */
export function countKinds(kinds: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts]
    .sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
    .map(([kind, count]) => `${count} ${count === 1 ? kind : plural(kind)}`)
    .join(", ");
}

function plural(kind: string): string {
  if (/[^aeiou]y$/.test(kind)) return `${kind.slice(0, -1)}ies`;
  // Endpoints and SecurityContextConstraints are plural already.
  if (/[^siu]s$/.test(kind)) return kind;
  if (/(s|x|ch)$/.test(kind)) return `${kind}es`;
  return `${kind}s`;
}
