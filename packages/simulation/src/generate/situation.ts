import type { ScenarioEventEntry } from "../scenario/scenario-file.js";
import type { Draw } from "./draw.js";
import type { FaultContext } from "./faults.js";
import type { Shape } from "./shape.js";

/**
 * Something that goes wrong together with what it takes to show: a workload that is there when it does, what users do
 * meanwhile, and a fault that begins and ends around it. Drawn one by one these seldom meet.
 */
export interface Situation {
  readonly name: string;
  /** What the workload has to be made of. */
  readonly shapes: readonly Shape[];
  /** What would keep it from coming about. */
  readonly without: readonly Shape[];
  readonly draw: (draw: Draw, context: SituationContext) => readonly ScenarioEventEntry[];
}

/** What a situation is about. */
export type SituationContext = Pick<FaultContext, "subjects" | "windowMs" | "nodes" | "replicas">;
