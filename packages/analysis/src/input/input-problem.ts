import { firstFew } from "./first-few.js";

/**
 * The effect of a mistake in the input.
 *
 * - `leftOut`: a CronJob or Job is not simulated.
 * - `notNeeded`: the result is the same, because the run does not need the object.
 * - `mistake`: the result may be wrong, for example without a ResourceQuota.
 */
export type ProblemKind = "leftOut" | "notNeeded" | "mistake";

/** A mistake in the input. */
export interface InputProblem {
  readonly kind: ProblemKind;
  /** The object: `CronJob billing/report`; its place if it cannot be read. */
  readonly object: string;
  /** What is wrong, and the fix. */
  readonly reason: string;
  /** One line for people: place, object and reason. */
  readonly message: string;
}

/** What a run found in its input. */
export interface FoundObjects {
  /** Simulated and left out. */
  readonly cronJobs: number;
  /** Jobs without a CronJob, simulated and left out. */
  readonly jobs: number;
  /** Files, kustomizations and standard inputs that were read. */
  readonly files: number;
  readonly mistakes: readonly InputProblem[];
}

/** Kinds of objects, apart from CronJobs and Jobs, that change what Jobs do. */
const NEEDED: ReadonlySet<string> = new Set([
  "LimitRange",
  "List",
  "MutatingAdmissionPolicy",
  "MutatingAdmissionPolicyBinding",
  "Namespace",
  "Node",
  "Pod",
  "PriorityClass",
  "ResourceQuota",
  "RuntimeClass",
  "ServiceAccount",
  "ValidatingAdmissionPolicy",
  "ValidatingAdmissionPolicyBinding",
]);

/** Returns the effect of a mistake in an object. @param kind - Undefined: unknown. */
export function problemKindOf(kind: string | undefined): ProblemKind {
  // A misspelt kind, such as Cronjob, is meant as well.
  if (/^(Cron)?Job$/i.test(kind ?? "")) return "leftOut";
  return kind === undefined || NEEDED.has(kind) ? "mistake" : "notNeeded";
}

/** The lines that a command prints for mistakes. */
export interface ProblemLines {
  /** Mistakes because of which the command ends with status 2. */
  readonly problems: readonly string[];
  readonly notes: readonly string[];
}

/** Divides mistakes by their effect. @param strict - Whether every mistake counts. */
export function problemLines(all: readonly InputProblem[], strict: boolean): ProblemLines {
  const lines = (kind: ProblemKind): string[] =>
    all.filter((problem) => problem.kind === kind).map(({ message }) => message);
  if (strict) return { problems: all.map(({ message }) => message), notes: [] };
  const notNeeded = lines("notNeeded").map((message) => `${message} (the run does not need it)`);
  return {
    problems: lines("mistake"),
    notes: [...lines("leftOut"), ...firstFew(notNeeded, "more mistakes in objects that the run does not need")],
  };
}
