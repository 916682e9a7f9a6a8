export { exhaustivePlans } from "./generate/exhaustive-plans.js";
export { FAULT_KINDS } from "./generate/fault-kind.js";
export { generatePlan } from "./generate/generate-plan.js";
export { SHAPES } from "./generate/shape.js";
export { minimize } from "./minimize/minimize.js";
export { uidOf, withOwnerUids } from "./owner-uids.js";
export { builtInInvariants, cacheInvariants, genericInvariants, jobInvariants } from "./invariants/built-in.js";
export { LASTING, SCENARIO_API_VERSION } from "./scenario/scenario-file.js";

export type { FaultPlan } from "./fault-plan.js";
export type { ExhaustiveOptions } from "./generate/exhaustive-plans.js";
export type { FaultKind } from "./generate/fault-kind.js";
export type { GenerateOptions } from "./generate/generate-plan.js";
export type { Shape } from "./generate/shape.js";
export type { MinimizeOptions, MinimizeProgress, Minimized } from "./minimize/minimize.js";
export type { FindUid, NamedObject } from "./owner-uids.js";
export type { Invariant, InvariantChecks, Violated, Violation } from "./invariant.js";
export type { Outcome, SettledObject } from "./outcome.js";
export type {
  ControllerSettings,
  HappeningEntry,
  HappeningKind,
  Happenings,
  Jitter,
  NodeGroup,
  RequestSelection,
  ScenarioFile,
  Target,
  WorkloadEntry,
} from "./scenario/scenario-file.js";
export type {
  AnsweredRequest,
  CacheEvent,
  RequestInfo,
  Stored,
  StoredChange,
  ThrownError,
  ToldDecision,
  ToldHappening,
  World,
} from "./world.js";
