/** The path of the trace for the live page. */
export const TRACE_PATH = "/_kubewright/trace";

/** How long a request waits for new records. */
export const TRACE_POLL_MS = 15_000;

/** The first line of a response to {@link TRACE_PATH}. One trace record per line follows. */
export interface LiveStatus {
  readonly type: "status";
  /**
   * Identifies the cluster's life. It changes when the server restarts or is reset; record numbers then restart at 0.
   */
  readonly life: string;
  /** Number of the first record in this response. Higher than the requested number when older records were dropped. */
  readonly first: number;
  /** The cluster's time. */
  readonly now: string;
  /** Start of the recording. */
  readonly since: string;
  /** Virtual seconds per real second, or `manual` for a clock that clients advance. */
  readonly speed: number | "manual";
}
