import { errorMessage } from "@kubewright/client";

/** The step of an informer that failed. The informer continues in every case. */
export type InformerStep =
  /** Listing the resource: the informer backs off and retries. */
  | "list"
  /** Opening or reading a watch: the informer backs off, and then reopens the watch or lists. */
  | "watch"
  /** Applying one event: that event is lost. */
  | "event"
  /** Calling a handler: the other handlers are called nevertheless. */
  | "handler"
  /** Recording a metric: only the measurement is lost. */
  | "metrics";

/**
 * An error that an informer reports to `onError`. The message names the resource. `cause` is the thrown error, if there
 * was one.
 */
export class InformerError extends Error {
  override readonly name = "InformerError";

  constructor(
    readonly step: InformerStep,
    what: string,
    cause?: unknown,
  ) {
    super(cause === undefined ? what : `${what}: ${errorMessage(cause)}`, cause === undefined ? {} : { cause });
  }
}
