/** All that a link holds: what is written, on which Kubernetes it is played, and how many futures are wanted. What is shown follows from it. */
export interface PlaygroundState {
  readonly manifests: string;
  /** How it is played: window, seed, durations and what goes wrong. Empty: as `kubewright run` does by itself. */
  readonly scenario: string;
  /** The release that is played, as `--kubernetes` takes it; empty: the newest. */
  readonly kubernetes: string;
  /** From 1 to 1000. */
  readonly futures: number;
}

export const DEFAULT_FUTURES = 100;
export const MAX_FUTURES = 1000;

export const NOTHING: PlaygroundState = { manifests: "", scenario: "", kubernetes: "", futures: DEFAULT_FUTURES };
