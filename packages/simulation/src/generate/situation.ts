import type { ScenarioEventEntry } from "../faults/registry.js";
import type { Draw } from "./draw.js";
import type { FaultContext } from "./faults.js";
import type { Shape } from "./shape.js";

/**
 * A fault together with what it takes to have an effect: a suitable workload, user actions, and a fault that begins and
 * ends around them. Independent draws seldom combine these.
 */
export interface Situation {
  /** Features that the workload needs. */
  readonly shapes: readonly Shape[];
  /** Features that would prevent the situation. */
  readonly without: readonly Shape[];
  readonly draw: DrawEvents;
}

export type DrawEvents = (draw: Draw, context: SituationContext) => readonly ScenarioEventEntry[];

/** What a situation can refer to. */
export type SituationContext = Pick<FaultContext, "subjects" | "windowMs" | "nodes" | "replicas">;
