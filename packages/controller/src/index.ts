export {
  canonicalControllers,
  controllerListErrors,
  isControllerEnabled,
  selectControllers,
} from "./controller-list.js";
export { knownControllers } from "./known-controllers.js";
export { aggregateErrors } from "./aggregate-errors.js";
export { ControllerShell } from "./controller-shell.js";
export { ControllerRefManager } from "./controller-ref-manager.js";
export { enqueueController, enqueueObject } from "./enqueue.js";
export { EventCorrelator } from "./event-correlator.js";
export { EventRecorder } from "./event-recorder.js";
export { EventsV1Recorder } from "./events-v1-recorder.js";
export { discardEvents } from "./event-sink.js";
export { FeatureGateError, resolveFeatureGates } from "./feature-gates.js";
export { finishWrites } from "./finish-writes.js";
export { HealthChecks } from "./health-checks.js";
export { renderHealth } from "./health-report.js";
export { LeaderElector } from "./leader-elector.js";
export { NotLeaderError, leaderFence } from "./leader-fence.js";
export { silentLogger } from "@kubewright/clock";
export { isDnsSubdomain, isDnsSubdomainPrefix } from "./object-name.js";
export { PodControl } from "./pod-control.js";
export {
  podControllerIndex,
  podControllerIndexKey,
  podControllerIndexValues,
  podsOfController,
} from "./pod-controller-index.js";
export { isPodActive, isPodReady, isPodTerminal, isPodTerminating } from "./pod-filters.js";
export { comparePodsForDeletion } from "./pod-ranking.js";
export { podFromTemplate } from "./pod-template.js";
export { recheckDeletionTimestamp } from "./recheck-deletion-timestamp.js";
export { ReconcileLoop } from "./reconcile-loop.js";
export { defaultBackoff, defaultRetry, retryOnConflict } from "./retry-on-conflict.js";
export { runAll, runInStages } from "./runnable.js";
export { slowStartBatch } from "./slow-start.js";
export { StopTimeoutError, withStopDeadline } from "./stop-deadline.js";
export { TerminalError } from "./terminal-error.js";

export type { ControllerSelection } from "./controller-list.js";
export type { KnownController } from "./known-controllers.js";
export type { ControllerDeps } from "./controller-deps.js";
export type { ControllerShellOptions, ShellLoopOptions, ShellWork } from "./controller-shell.js";
export type { ClaimAction, ClaimResult, ControllerRefManagerOptions } from "./controller-ref-manager.js";
export type { KeySink } from "./enqueue.js";
export type { CorrelatedEvent, EventCorrelatorOptions } from "./event-correlator.js";
export type { EventRecorderOptions } from "./event-recorder.js";
export type { EventsV1RecorderOptions } from "./events-v1-recorder.js";
export type { EventDetails, EventSink, EventType } from "./event-sink.js";
export type { FeatureGate, FeatureGateSettings, FeatureGateWarning } from "./feature-gates.js";
export type { HealthCheck, HealthChecksOptions, HealthMetrics } from "./health-checks.js";
export type { HealthReport, HealthResult } from "./health-report.js";
export type { LeaderCallbacks, LeaderElectionMetrics, LeaderElectorOptions } from "./leader-elector.js";
export type { DueRenewal, RenewalDeferral, RenewalSchedule } from "./renewal-deferral.js";
export type { Logger } from "@kubewright/clock";
export type { CreatePodOptions, PodControlOptions } from "./pod-control.js";
export type { Reconcile, ReconcileLoopOptions, ReconcileResult } from "./reconcile-loop.js";
export type { Backoff } from "./retry-on-conflict.js";
export type { Runnable } from "./runnable.js";
export type { SlowStartResult } from "./slow-start.js";
export type { StopDeadline } from "./stop-deadline.js";
