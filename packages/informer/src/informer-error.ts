import { errorMessage } from "@kubewright/client";

/** What an informer was doing when something failed. It goes on in every case. */
export type InformerStep =
  /** Reading the whole: it backs off and tries again. */
  | "list"
  /** Opening or reading a watch: it backs off, and opens it again or lists. */
  | "watch"
  /** Taking one event in: that event is lost. */
  | "event"
  /** Telling a handler: the others are told all the same. */
  | "handler"
  /** Measuring: nothing is lost but the measurement. */
  | "metrics";

/** What an informer reports to `onError`. The message names the resource; `cause` is what was thrown, if something was. */
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
