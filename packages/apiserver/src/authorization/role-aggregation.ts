import { type ClusterRole, type DeepReadonly, type PolicyRule, labelSelectorMatcher } from "@kubewright/api";
import type { Clock } from "@kubewright/clock";

import { jsonEqual } from "../json.js";
import type { ResourceStorage } from "../storage/resource-storage.js";

type Role = DeepReadonly<ClusterRole>;
type Rules = readonly DeepReadonly<PolicyRule>[];

export interface RoleAggregationOptions {
  readonly clock: Clock;
  readonly clusterRoles: ResourceStorage;
  /** Applies the rules to the role, or fails without a word. */
  readonly apply: (name: string, rules: Rules) => void;
}

/**
 * Keeps the rules of ClusterRoles that have an `aggregationRule` those of all the roles that it selects. All are looked at
 * whenever any role changes, as there are few and each may be a part of others. Upstream: `pkg/controller/clusterroleaggregation`,
 * of kube-controller-manager.
 *
 * Differs: roles that are made of each other in a circle, whose rules may go round for ever, are left after as many rounds as
 * there are roles.
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

/** `undefined` of a role that says its rules itself. @param roles - By name. */
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

/** The same of equal rules. */
function textOf({
  verbs,
  apiGroups = [],
  resources = [],
  resourceNames = [],
  nonResourceURLs = [],
}: Rules[number]): string {
  return JSON.stringify([verbs, apiGroups, resources, resourceNames, nonResourceURLs]);
}
