/** The content of a link: the files, the Kubernetes release, and the number of futures. The results follow from it. */
export interface PlaygroundState {
  readonly manifests: string;
  /** The scenario: window, seed, durations and events. Empty for the defaults of `kubewright run`. */
  readonly scenario: string;
  /** The simulated release, as a value of `--kubernetes`. Empty for the newest release. */
  readonly kubernetes: string;
  /** From 1 to 1000. */
  readonly futures: number;
}

export const DEFAULT_FUTURES = 100;
export const MAX_FUTURES = 1000;

export const NOTHING: PlaygroundState = { manifests: "", scenario: "", kubernetes: "", futures: DEFAULT_FUTURES };
