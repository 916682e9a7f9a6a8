import { type KubernetesObject, labelSelectorMatcher } from "@kubewright/api";
import type { ResourceClient } from "@kubewright/client";

import type { EventRun, ScenarioAction } from "../faults/event-definition.js";
import type { Target } from "../scenario/schema.js";
import { DEFINITIONS } from "../scenario/target-kinds.js";

/** Returns a user action on one object by its name, or on all with certain labels. */
export function targetAction(
  verb: string,
  { kind, namespace: named, name, labels = {} }: Target,
  { user }: EventRun,
  act: (name: string, namespace: string | undefined, client: ResourceClient<KubernetesObject>) => Promise<unknown>,
): ScenarioAction & { readonly begin: () => Promise<unknown> } {
  const definition = DEFINITIONS[kind];
  const namespace = definition.namespaced ? (named ?? "default") : undefined;
  const client = user.resource(definition);
  if (name !== undefined) {
    return {
      message: `a user ${verb} ${kind} ${namespace === undefined ? "" : `${namespace}/`}${name}`,
      involved: { kind, namespace: namespace ?? "", name },
      begin: () => act(name, namespace, client),
    };
  }
  const matches = labelSelectorMatcher({ matchLabels: labels });
  const shown = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return {
    message: `a user ${verb} the ${kind}s with ${shown.join(", ")}${namespace === undefined ? "" : ` in ${namespace}`}`,
    async begin() {
      const { items } = await client.list({ namespace });
      const chosen = items.filter(({ metadata }) => matches(metadata.labels));
      if (chosen.length === 0) throw new Error(`there is no ${kind} with these labels`);
      for (const { metadata } of chosen) await act(metadata.name ?? "", namespace, client);
    },
  };
}
