import { parseDuration } from "@kubewright/clock";

import type { FaultPlan } from "../fault-plan.js";
import type { ScenarioEventEntry } from "../faults/registry.js";
import { durationText } from "./duration-text.js";
import { KUBERNETES } from "./request-kinds.js";

export interface ExhaustiveOptions {
  /** Controllers whose writes get faults. Default: all. */
  readonly controllers?: readonly string[];
  /** Number of writes per controller, from the first. Default: 20, about what a Job of three pods takes. */
  readonly writes?: number;
}

/** Faults at a single write. */
const WRITE_FAULTS: readonly ((controller: string, nth: number) => Omit<ScenarioEventEntry, "at" | "for">)[] = [
  (controller, nth) => ({ controllerCrashes: { controller, verbs: ["write"], nth, when: "before" } }),
  (controller, nth) => ({ controllerCrashes: { controller, verbs: ["write"], nth, when: "after" } }),
  (controller, nth) => ({ requestFails: { ...oneWrite(controller, nth), with: 500 } }),
  (controller, nth) => ({ requestFails: { ...oneWrite(controller, nth), with: "timeout", effect: "kept" } }),
  // Creates and deletes cannot conflict.
  (controller, nth) => ({ requestFails: { ...oneWrite(controller, nth), verbs: ["update", "patch"], with: 409 } }),
];

/**
 * Yields the plan with one more fault, for each of the first writes of each controller in the first half of the plan.
 * The fault kills the controller before or after the write, refuses the write, loses its response, or reports a
 * conflict. Five plans per write.
 */
export function* exhaustivePlans(base: FaultPlan, options: ExhaustiveOptions = {}): Generator<FaultPlan, void> {
  const { controllers = KUBERNETES.controllers, writes = 20 } = options;
  const half = durationText((parseDuration(base.for) ?? 0) / 2);
  for (const controller of controllers)
    for (let nth = 1; nth <= writes; nth++)
      for (const makeFault of WRITE_FAULTS) {
        // The fault comes first, so that it counts from the first request.
        const entry = { at: "+0s", for: half, ...makeFault(controller, nth) };
        yield { ...base, events: [entry, ...(base.events ?? [])] };
      }
}

function oneWrite(controller: string, nth: number): NonNullable<ScenarioEventEntry["requestFails"]> {
  return { components: [controller], verbs: ["write"], nth, times: 1 };
}
