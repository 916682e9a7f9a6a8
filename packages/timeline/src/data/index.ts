export { byWeight, changesBetween, notableChanges } from "./change-text.js";
export { isWithoutPods, rowTime } from "./rows.js";
export { sinceText } from "./since-text.js";
export { invariantViolationText } from "./violation-text.js";

export type { ConcurrencySteps, Levels } from "./concurrency-steps.js";
export type { CronJobState } from "./cron-job-state.js";
export type { Figure, FigureCell, FigureTable, Moment } from "./figure-table.js";
export type { FuturesReport, LoadBand, LoadOverTime, LoadOverTimeOf } from "./futures-report.js";
export type { ScenarioEventRecord } from "./scenario-event-record.js";
export type { ReportedMissReason, ReportedMissedSlots, SkipReason } from "./missed-slots.js";
export type { PageData } from "./page-data.js";
export type {
  Actor,
  Fields,
  ScenarioEventBar,
  InitialCachedVersions,
  Look,
  ObjectVersion,
  RecordedObject,
  RecordedRun,
  RecordedViolation,
  Sentence,
  Step,
  StepKind,
  NarrativeSection,
} from "./recorded-run.js";
export type {
  ComparisonReport,
  DecisionNote,
  DifferingGroup,
  EventNote,
  ReportedObject,
  ReportData,
  ReportTotals,
  RepeatedSlots,
  RunCounts,
} from "./report-data.js";
export type { PodBar, CreationRefusal, RunRow, SkippedRow, TimelineGroup, TimelineRow } from "./rows.js";
export type { LoadMaps, LoadRow, SpreadMeasure, SpreadReport } from "./spread-report.js";
