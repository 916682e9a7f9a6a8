import type { FaultPlan, ScenarioEventEntry, InvariantViolation } from "@kubewright/simulation";

import { formatDuration } from "@kubewright/analysis/time";
import { type Style, printable } from "@kubewright/analysis/text";

/** Describes the objects, settings and events of a plan, one per line. */
export function planLines({
  manifests,
  events: scenarioEvents = [],
  controllers,
  jitter,
  controllerManagers,
}: FaultPlan): string[] {
  const settings = {
    ...(controllerManagers === undefined ? {} : { controllerManagers }),
    ...controllers,
    ...(jitter === undefined ? {} : { jitter }),
  };
  const objects = manifests.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? "default"}/${metadata.name}`);
  return [
    `plays ${objects.length === 0 ? "nothing" : objects.join(", ")}`,
    ...(Object.keys(settings).length === 0 ? [] : [`with ${inlineText(settings)}`]),
    ...scenarioEvents.map(scenarioEventLine),
  ].map(printable);
}

/** Describes a violation: object, time and message. */
export function violationLine({ subject, message, atMs }: InvariantViolation, plan: FaultPlan, style: Style): string {
  const after = formatDuration(Math.max(0, atMs - Date.parse(plan.start)));
  return `${style.bold(printable(subject))}  ${style.dim(`+${after}`)}  ${printable(message)}`;
}

function scenarioEventLine({ at, for: length, ...what }: ScenarioEventEntry): string {
  const [kind, value] = Object.entries(what)[0] ?? ["", {}];
  const lasts = length === undefined ? "" : ` for ${length}`;
  return `${at} ${kind}${lasts}${value === true ? "" : ` ${inlineText(value)}`}`;
}

const LONGEST = 160;

/** Formats `{kind: Pod, controller: job-controller}`, shortened to one line. */
function inlineText(value: unknown): string {
  const text = inline(value);
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 1)}…`;
}

function inline(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inline).join(", ")}]`;
  if (typeof value !== "object" || value === null) return String(value);
  return `{${Object.entries(value)
    .map(([key, item]) => `${key}: ${inline(item)}`)
    .join(", ")}}`;
}
