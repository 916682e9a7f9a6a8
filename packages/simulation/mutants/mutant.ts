/** A known bug, reintroduced into the current sources by a change that is as small as possible. Plain data. */
export interface Mutant extends MutantDetails {
  /** Name for `--mutant`. */
  readonly name: string;
  /** Empty when the current code has the described behaviour. */
  readonly changes: readonly SourceChange[];
}

/** Rows of the table of known bugs, by name: most of them change one text. */
export type MutantRows = Readonly<Record<string, MutantDetails & (SourceChange | Pick<Mutant, "changes">)>>;

export function mutantOf(name: string, row: MutantRows[string]): Mutant {
  if ("changes" in row) return { name, ...row };
  const { file, find, replace, ...details } = row;
  return { name, ...details, changes: [{ file, find, replace }] };
}

interface MutantDetails {
  /**
   * Entry of the bug in the list: `#1`, `E9b`; `1.3` and `3.1` for bugs without a number; `own` for an invented
   * mistake.
   */
  readonly entry: string;
  /** The upstream issue: `kubernetes/kubernetes#139428`. */
  readonly issue?: string;
  /** Effect of the bug, in a sentence. */
  readonly sentence: string;
  /**
   * Upstream's design permits the behaviour, and so does this one: a negative control, which no invariant may report.
   */
  readonly permitted?: true;
  /** Settings that a run needs to show the bug, where other guards hide it otherwise. */
  readonly needs?: MutantNeeds;
  /**
   * Number of controller managers that share the work; the plans are those of `kubewright fuzz --sharding`. Absent
   * without sharding.
   */
  readonly sharding?: number;
  /** Patterns that the JSON of a plan matches if the plan runs the changed code; other plans need not be run. */
  readonly inPlan?: readonly RegExp[];
}

export interface MutantNeeds {
  /** The Job controller does not wait until its caches show its own writes, as before Kubernetes 1.36. */
  readonly consistencyGate?: "off";
  /** Maximum values for the limits of the Job controller. */
  readonly limits?: { readonly maxUncountedPods?: number; readonly maxPodsPerSync?: number };
}

/** A text that occurs exactly once in a file, and its replacement. */
export interface SourceChange {
  /** Path relative to the root of the repository. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}
