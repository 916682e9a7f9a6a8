/**
 * Data of the page of one run with violations, as JSON. Steps, objects and actors are referenced by their list indexes.
 */
export interface RecordedRun {
  readonly page: "recorded-run";
  /** Name of the plan, or its seed. */
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
  /** The violation that the narrative explains comes first. */
  readonly violations: readonly RecordedViolation[];
  /** The course of the run in sentences, in reading order. */
  readonly narrative: readonly NarrativeSection[];
  readonly objects: readonly RecordedObject[];
  /** Components and users that have caches, decide or write. */
  readonly actors: readonly Actor[];
  readonly steps: readonly Step[];
  readonly scenarioEvents: readonly ScenarioEventBar[];
  /** Versions before the first step, present when earlier steps are omitted. */
  readonly initialVersions: InitialCachedVersions;
  /** The object that is selected initially. */
  readonly selected: number | undefined;
  /** The plan as a scenario file. */
  readonly plan: string;
  /** The command that reproduces the run. */
  readonly command: string;
  /** Parts of the run that this data does not include, one sentence each. */
  readonly omitted: readonly string[];
}

export interface RecordedViolation {
  readonly invariant: string;
  /** The rule that was violated. */
  readonly sentence?: string;
  readonly subject: string;
  readonly message: string;
  readonly step: number;
}

export interface NarrativeSection {
  readonly title: string;
  readonly sentences: readonly Sentence[];
}

export interface Sentence {
  readonly text: string;
  /** Time of the event, when the text does not state it. */
  readonly atMs?: number;
  /** The step that shows it. */
  readonly step?: number;
}

export interface RecordedObject {
  /** `Job default/pi` */
  readonly name: string;
  /** `jobs.batch` */
  readonly resource: string;
  /**
   * Whether the object is the subject of the violation, one of its owners or dependents, or otherwise related to it.
   */
  readonly isConcerned: boolean;
  /** Fields that are equal in all versions, by path: `spec.parallelism`. */
  readonly fields: Fields;
  readonly versions: readonly ObjectVersion[];
}

export interface ObjectVersion {
  readonly resourceVersion: string;
  /** Fields that differ between versions. */
  readonly fields: Fields;
}

export type Fields = Readonly<Record<string, string>>;

export interface Actor {
  /** The component's name, with its process where there are several. */
  readonly name: string;
  /** `job-controller` */
  readonly component: string;
  /** Name of its controller manager; `""` for actors outside of one. */
  readonly process: string;
  /** False for node agents, schedulers and users. */
  readonly isController: boolean;
  /** Whether the actor has decided about the related objects, or has written them. */
  readonly isInvolved: boolean;
}

export type StepKind = "scenarioEvent" | "note" | "change" | "cache" | "decision" | "answer" | "error" | "violation";

export interface Step {
  readonly atMs: number;
  readonly kind: StepKind;
  /** One sentence without a full stop. */
  readonly text: string;
  /** Reasons and messages. */
  readonly more?: string;
  /** For a change: the actor that made it. */
  readonly actor?: number;
  /** The incarnation of the actor, from 1. A restart begins a new incarnation. */
  readonly incarnation?: number;
  readonly object?: number;
  /** For changes and cache events: the version after the step. Absent when the object is deleted. */
  readonly version?: number;
  /** Its symbol on the timeline. */
  readonly look: Look;
}

/**
 * Symbols of steps.
 *
 * - `acts`, `rests`: a decision with or without an action.
 * - `done`, `refused`: responses of the API server.
 * - `false`: a response from a fault, for a request that had no effect.
 * - `lost`: a response from a fault, for a request that had an effect.
 */
export type Look =
  "added" | "modified" | "deleted" | "acts" | "rests" | "done" | "refused" | "false" | "lost" | "wrong" | "plain";

export interface ScenarioEventBar {
  readonly label: string;
  readonly from: number;
  /** Absent when the event continues until the end of the run, or has no duration. */
  readonly to?: number;
  readonly isOngoingAtEnd: boolean;
}

/** Versions by list index: of each object in the store, and in the caches of the actors. */
export interface InitialCachedVersions {
  readonly store: readonly (readonly [object: number, version: number])[];
  readonly caches: readonly (readonly [actor: number, object: number, version: number])[];
  readonly incarnations: readonly (readonly [actor: number, life: number])[];
}
