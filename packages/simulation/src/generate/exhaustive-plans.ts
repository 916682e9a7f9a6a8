import { parseDuration } from "@kubewright/clock";

import type { FaultPlan } from "../fault-plan.js";
import type { ScenarioEventEntry } from "../scenario/scenario-file.js";
import { durationText } from "./duration-text.js";
import { KUBERNETES } from "./request-kinds.js";

export interface ExhaustiveOptions {
  /** Whose writes. Default: those of all controllers. */
  readonly controllers?: readonly string[];
  /** How many writes of each, from the first. Default: 20, which is about what a Job of three pods takes. */
  readonly writes?: number;
}

/** What may become of one write. */
const WRITE_FAULTS: readonly ((controller: string, nth: number) => Omit<ScenarioEventEntry, "at" | "for">)[] = [
  (controller, nth) => ({ controllerCrashes: { controller, verbs: ["write"], nth, when: "before" } }),
  (controller, nth) => ({ controllerCrashes: { controller, verbs: ["write"], nth, when: "after" } }),
  (controller, nth) => ({ requestFails: { ...oneWrite(controller, nth), with: 500 } }),
  (controller, nth) => ({ requestFails: { ...oneWrite(controller, nth), with: "timeout", effect: "kept" } }),
  // Creates and deletes know no conflict.
  (controller, nth) => ({ requestFails: { ...oneWrite(controller, nth), verbs: ["update", "patch"], with: 409 } }),
];

/**
 * The plan with one more fault, for every write of every controller in the first half of its time: the controller is killed
 * before or after it, it is refused, its answer is lost, or somebody else was faster. Five plans for each.
 */
export function* exhaustivePlans(base: FaultPlan, options: ExhaustiveOptions = {}): Generator<FaultPlan, void> {
  const { controllers = KUBERNETES.controllers, writes = 20 } = options;
  const half = durationText((parseDuration(base.for) ?? 0) / 2);
  for (const controller of controllers)
    for (let nth = 1; nth <= writes; nth++)
      for (const makeFault of WRITE_FAULTS) {
        // First of all, so that it counts from the very first request.
        const entry = { at: "+0s", for: half, ...makeFault(controller, nth) };
        yield { ...base, events: [entry, ...(base.events ?? [])] };
      }
}

function oneWrite(controller: string, nth: number): NonNullable<ScenarioEventEntry["requestFails"]> {
  return { components: [controller], verbs: ["write"], nth, times: 1 };
}
