export { fuzz } from "./fuzz.js";
export { failsLike, runCampaign } from "./fuzz/campaign.js";
export { runAndCompare, withoutFaults } from "./fuzz/run-and-compare.js";
export { planNamed } from "./fuzz/plan-name.js";
export { exhaustivePlans } from "./generate/exhaustive-plans.js";
export { FAULT_KINDS, SHARDING_FAULT_KINDS, describeEvents } from "./faults/registry.js";
export { generatePlan } from "./generate/generate-plan.js";
export { generateShardedPlan } from "./generate/sharded-plan.js";
export { SHAPES } from "./generate/shape.js";
export { minimize } from "./minimize/minimize.js";
export { uidPlaceholder, resolveOwnerUids } from "./owner-uids.js";
export { readPlan } from "./check-plan.js";
export { closest, suggestion } from "./did-you-mean.js";
export { compareSettled } from "./compare-settled.js";
export { PlanError } from "./create-objects.js";
export { Discovery } from "./discovery.js";
export { runPlan } from "./run-plan.js";
export { checkScenario, checkWorkloadSettings, nodeShapes } from "./scenario/check-scenario.js";
export { checkSchema } from "./scenario/check-schema.js";
export { clockSettings, clusterSettings } from "./scenario/cluster-settings.js";
export { ScenarioEventRunner } from "./scenario/scenario-event-runner.js";
export { scenarioEventsOf } from "./scenario/scenario-event.js";
export { LONGEST_RUN_MS, TOO_LONG } from "./scenario/longest-run.js";
export { pathText } from "./scenario/problem.js";
export {
  builtInInvariants,
  cacheInvariants,
  cronJobInvariants,
  garbageInvariants,
  genericInvariants,
  jobInvariants,
  leaderInvariants,
  shardingInvariants,
} from "./invariants/built-in.js";
export { SCENARIO_API_VERSION } from "./scenario/schema.js";
export { scenarioSchema, workloadsSchema } from "./scenario/scenario-schema.js";
export { DEFAULT_DURATION_MS, DEFAULT_START_MS, timeOf } from "./scenario/scenario-times.js";
export { hasDuration, hasOutcome, isSelected, matchesName, withWorkloads } from "./scenario/workload-annotations.js";

export { collectStates, sometimes } from "./sometimes.js";

export type { CoveredStates, Sometimes } from "./sometimes.js";
export type { FaultPlan } from "./fault-plan.js";
export type { FuzzOptions } from "./fuzz.js";
export type { CampaignOptions, CampaignProgress, FuzzWorkers } from "./fuzz/campaign.js";
export type { FoundViolation, FuzzReport, MinimizedViolation, CoverageEntry } from "./fuzz/fuzz-report.js";
export type { MakePlan } from "./fuzz/plan-name.js";
export type { ExhaustiveOptions } from "./generate/exhaustive-plans.js";
export type { ShardedPlanOptions } from "./generate/sharded-plan.js";
export type { GenerateOptions, CustomWorkload } from "./generate/generate-plan.js";
export type { Shape } from "./generate/shape.js";
export type { MinimizeOptions, MinimizeProgress, Minimized } from "./minimize/minimize.js";
export type { FindUid, NamedObject } from "./owner-uids.js";
export type { GroupedNode } from "./scenario/grouped-node.js";
export type { Invariant, InvariantChecks, Violated, InvariantViolation } from "./invariant.js";
export type { RunRecord } from "./observer.js";
export type { RunPlanOptions } from "./run-plan.js";
export type { SimulatedOperator, SimulatedController, SimulatedEnvironment } from "./simulated-controller.js";
export type { Figures, Outcome, SettledObject } from "./outcome.js";
export type { ScenarioFacts } from "./scenario/check-scenario.js";
export type { ScenarioEventNote, ScenarioEventRunnerOptions } from "./scenario/scenario-event-runner.js";
export type { ScenarioEvent, ScenarioEventSources, ScenarioObject } from "./scenario/scenario-event.js";
export type { Path, ScenarioProblem } from "./scenario/problem.js";
export type {
  EventDescription,
  FaultKind,
  ScenarioEventEntry,
  ScenarioEventKind,
  ScenarioEventMap,
  ShardingFaultKind,
} from "./faults/registry.js";
export type { RequestSelection } from "./faults/requests.js";
export type { ScenarioFile } from "./scenario/scenario-file.js";
export type { ControllerSettings, Jitter, NodeGroup, WorkloadEntry } from "./scenario/scenario-schema.js";
export type { Target } from "./scenario/schema.js";
export type {
  AnsweredRequest,
  CacheEvent,
  RunListener,
  ObservedRequest,
  Stored,
  StoredChange,
  ThrownError,
  ReportedDecision,
  ReportedScenarioEvent,
  World,
} from "./world.js";
