/** Where the live page finds the trace. */
export const TRACE_PATH = "/_kubewright/trace";

/** How long a request for news waits for some. */
export const TRACE_POLL_MS = 15_000;

/** The first line of an answer to {@link TRACE_PATH}; trace records follow, one a line. */
export interface LiveStatus {
  readonly type: "status";
  /** Another one means that the numbers begin anew. */
  readonly life: string;
  /** The number of the first record of this answer; later than asked for when older ones are gone. */
  readonly first: number;
  /** The cluster's time. */
  readonly now: string;
  /** When the recording began. */
  readonly since: string;
  /** Virtual seconds in a real one, or a clock that somebody else moves. */
  readonly speed: number | "manual";
}
