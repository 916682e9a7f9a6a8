import { type FaultPlan, describeEvents } from "@kubewright/simulation";

const MAX_NAMES = 6;

/** Whether the event with this index has a duration. */
export function isLasting({ events: scenarioEvents = [] }: FaultPlan, index: number): boolean {
  const entry = scenarioEvents[index] ?? {};
  return !describeEvents().some(({ kind, lasts }) => lasts === undefined && kind in entry);
}

/** Whether the event counts single requests; then it is shown at the requests that it affects, if there are any. */
export function targetsSingleRequests({ events: scenarioEvents = [] }: FaultPlan, index: number): boolean {
  return scenarioEvents[index]?.requestFails?.nth !== undefined;
}

/** Describes the objects and settings of a plan in sentences. */
export function planSentences(plan: FaultPlan): string[] {
  const { manifests, controllers, jitter, controllerManagers, description } = plan;
  const names = manifests.map(({ kind, metadata }) =>
    metadata.namespace === undefined ? `${kind} ${metadata.name}` : `${kind} ${metadata.namespace}/${metadata.name}`,
  );
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : "";
  const settings = Object.entries({
    ...(controllerManagers === undefined ? {} : { controllerManagers }),
    ...controllers,
    ...(jitter === undefined ? {} : { jitter }),
  }).map(([name, value]) => `${name}: ${typeof value === "object" ? JSON.stringify(value) : String(value)}`);
  return [
    ...(description === undefined ? [] : [description]),
    `${plan.for} of virtual time from ${plan.start}, with ${names.slice(0, MAX_NAMES).join(", ") || "nothing"}${more}.`,
    ...(settings.length === 0 ? [] : [`Set up with ${settings.join(", ")}.`]),
  ];
}
