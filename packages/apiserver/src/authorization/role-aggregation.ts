import { type ClusterRole, type DeepReadonly, type PolicyRule, labelSelectorMatcher } from "@kubewright/api";
import type { Clock } from "@kubewright/clock";

import { jsonEqual } from "../json.js";
import type { ResourceStorage } from "../storage/resource-storage.js";

type Role = DeepReadonly<ClusterRole>;
type Rules = readonly DeepReadonly<PolicyRule>[];

export interface RoleAggregationOptions {
  readonly clock: Clock;
  readonly clusterRoles: ResourceStorage;
  /** Applies the rules to the role. Ignores errors. */
  readonly apply: (name: string, rules: Rules) => void;
}

/**
 * Keeps the rules of each ClusterRole with an `aggregationRule` equal to the rules of the roles that it selects. Checks
 * all aggregated roles on every role change: there are few, and each may be part of others. Upstream:
 * `pkg/controller/clusterroleaggregation` of kube-controller-manager.
 *
 * Differs: the rules of roles that aggregate each other in a cycle could change forever. Aggregation therefore stops
 * after as many rounds as there are aggregated roles.
 */
export function aggregateRoles({ clock, clusterRoles, apply }: RoleAggregationOptions): void {
  let isScheduled = false;
  const all = (): readonly Role[] => clusterRoles.list().map(({ object }) => object as Role);
  const applyIfChanged = ({ metadata: { name = "" } }: Role): boolean => {
    const role = clusterRoles.get("", name)?.object as Role | undefined;
    const rules = role && aggregatedRules(role, all());
    if (rules === undefined || jsonEqual(rules, role?.rules ?? [])) return false;
    apply(name, rules);
    return true;
  };
  const schedule = (): void => {
    if (isScheduled) return;
    isScheduled = true;
    clock.setTimer(0, () => {
      const aggregatedRoles = all().filter(({ aggregationRule }) => aggregationRule !== undefined);
      for (
        let roundsLeft = aggregatedRoles.length;
        roundsLeft > 0 && aggregatedRoles.filter(applyIfChanged).length > 0;
        roundsLeft--
      );
      isScheduled = false;
    });
  };
  if (all().some(({ aggregationRule }) => aggregationRule !== undefined)) schedule();
  clusterRoles.follow({ onChange: schedule });
}

/** Returns the aggregated rules; `undefined` for a role without an `aggregationRule`. */
function aggregatedRules({ metadata, aggregationRule }: Role, roles: readonly Role[]): Rules | undefined {
  if (aggregationRule === undefined) return undefined;
  const rules = new Map<string, DeepReadonly<PolicyRule>>();
  for (const selector of aggregationRule.clusterRoleSelectors ?? []) {
    const selects = labelSelectorMatcher(selector);
    for (const role of roles) {
      if (role.metadata.name === metadata.name || !selects(role.metadata.labels)) continue;
      for (const rule of role.rules ?? []) rules.set(textOf(rule), rules.get(textOf(rule)) ?? rule);
    }
  }
  return [...rules.values()];
}

/** Returns equal texts for equal rules. */
function textOf({
  verbs,
  apiGroups = [],
  resources = [],
  resourceNames = [],
  nonResourceURLs = [],
}: Rules[number]): string {
  return JSON.stringify([verbs, apiGroups, resources, resourceNames, nonResourceURLs]);
}
