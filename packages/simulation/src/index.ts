export { LASTING, SCENARIO_API_VERSION } from "./scenario/scenario-file.js";

export type { FaultPlan } from "./fault-plan.js";
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
