/** What the page of one run that went wrong shows, as JSON. Steps, objects and actors are named by their places in the lists. */
export interface RecordedRun {
  readonly page: "recorded-run";
  /** Of the plan, or its seed. */
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
  /** The one that the story is about comes first. */
  readonly violations: readonly RecordedViolation[];
  /** What happened, in sentences, in the order in which they are to be read. */
  readonly narrative: readonly NarrativeSection[];
  readonly objects: readonly RecordedObject[];
  /** Those who keep caches, decide or write. */
  readonly actors: readonly Actor[];
  readonly steps: readonly Step[];
  readonly scenarioEvents: readonly ScenarioEventBar[];
  /** What was known before the first step, when earlier ones are left out. */
  readonly initialVersions: InitialCachedVersions;
  /** The object that is shown first. */
  readonly selected: number | undefined;
  /** The plan as a scenario file. */
  readonly plan: string;
  /** What plays it again. */
  readonly command: string;
  /** What is not in here, each in a sentence. */
  readonly omitted: readonly string[];
}

export interface RecordedViolation {
  readonly invariant: string;
  /** What should have held. */
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
  /** When, where the text does not say it. */
  readonly atMs?: number;
  /** Where it is to be seen. */
  readonly step?: number;
}

export interface RecordedObject {
  /** `Job default/pi` */
  readonly name: string;
  /** `jobs.batch` */
  readonly resource: string;
  /** Whether the violation is about it, its owners, its dependents or what it stands beside. */
  readonly isConcerned: boolean;
  /** What is the same in all versions, by path: `spec.parallelism`. */
  readonly fields: Fields;
  readonly versions: readonly ObjectVersion[];
}

export interface ObjectVersion {
  readonly resourceVersion: string;
  /** What is not the same in all versions. */
  readonly fields: Fields;
}

export type Fields = Readonly<Record<string, string>>;

export interface Actor {
  /** With its process, where there are several. */
  readonly name: string;
  /** `job-controller` */
  readonly component: string;
  /** Of which controller manager; `""` for what is in none. */
  readonly process: string;
  /** Whether it is neither a node's agent, a scheduler nor a person. */
  readonly isController: boolean;
  /** Whether it has decided about the objects concerned, or written them. */
  readonly isInvolved: boolean;
}

export type StepKind = "happening" | "note" | "change" | "cache" | "decision" | "answer" | "error" | "violation";

export interface Step {
  readonly atMs: number;
  readonly kind: StepKind;
  /** One sentence without a full stop. */
  readonly text: string;
  /** Reasons, messages. */
  readonly more?: string;
  /** Of a change: who made it. */
  readonly actor?: number;
  /** Which life of the actor, from 1. */
  readonly incarnation?: number;
  readonly object?: number;
  /** Of changes and cache events: the version from then on; absent: the object is gone. */
  readonly version?: number;
  /** Its shape on the timeline. */
  readonly look: Look;
}

/**
 * `acts`, `rests`: a decision that does something, or nothing. `done`, `refused`: answers of the API server. `false`: an answer
 * that a fault gave, of a request that had no effect; `lost`: of one that had.
 */
export type Look =
  "added" | "modified" | "deleted" | "acts" | "rests" | "done" | "refused" | "false" | "lost" | "wrong" | "plain";

export interface ScenarioEventBar {
  readonly label: string;
  readonly from: number;
  /** Absent: until the end, or it was over at once. */
  readonly to?: number;
  readonly isOngoingAtEnd: boolean;
}

/** Versions by place: of an object in the store, and in the caches of actors. */
export interface InitialCachedVersions {
  readonly store: readonly (readonly [object: number, version: number])[];
  readonly caches: readonly (readonly [actor: number, object: number, version: number])[];
  readonly incarnations: readonly (readonly [actor: number, life: number])[];
}
