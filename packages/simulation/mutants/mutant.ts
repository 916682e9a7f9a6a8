/** A known bug, put back into today's sources by as small a change as possible. Plain data: one file each, named for it. */
export interface Mutant {
  /** What `--mutant` takes, and the name of its file. */
  readonly name: string;
  /** Which bug it is: `#1`, `E9b`, or `1.3` and `3.1` for those that have no number of their own, `own` for a slip of our making. */
  readonly entry: string;
  /** Where Kubernetes' own code had it: `kubernetes/kubernetes#139428`. */
  readonly issue?: string;
  /** What goes wrong. */
  readonly sentence: string;
  /** Upstream's design permits it, and so does ours: a negative control, which nothing may accuse. */
  readonly permitted?: true;
  /** What has to be so in a run to show it, where other guards hide it otherwise. */
  readonly needs?: MutantNeeds;
  /** It is in what so many controller managers do that share work: the plans are those of `kubewright fuzz --sharding`. */
  readonly sharding?: number;
  /** What the text of a plan matches if the changed code is run at all: others need not be played to know that they tell nothing. */
  readonly inPlan?: readonly RegExp[];
  /** None where today's code is as described. */
  readonly changes: readonly SourceChange[];
}

export interface MutantNeeds {
  /** The Job controller does not wait until its caches show what it wrote, as none before Kubernetes 1.36 did. */
  readonly consistencyGate?: "off";
  /** Of the Job controller; not more than this. */
  readonly limits?: { readonly maxUncountedPods?: number; readonly maxPodsPerSync?: number };
}

/** Text that occurs exactly once in a file, and what takes its place. */
export interface SourceChange {
  /** From the root of the repository. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}
