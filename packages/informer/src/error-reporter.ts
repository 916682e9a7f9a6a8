import { errorMessage } from "@kubewright/client";
import { type Clock, standardErrorLogger } from "@kubewright/clock";

import type { InformerError } from "./informer-error.js";

/**
 * Returns a function that reports an informer's errors to `onError`, or to standard error if there is no `onError` or
 * it throws. The function never throws.
 *
 * Upstream: client-go tools/cache/reflector.go `DefaultWatchErrorHandler`.
 */
export function errorReporter(
  clock: Clock,
  onError: ((error: InformerError) => void) | undefined,
): (error: InformerError) => void {
  const logger = standardErrorLogger(clock, "informer");
  const log = (error: InformerError): void =>
    logger.error({ step: error.step, err: errorMessage(error) }, "Informer failed, going on");
  if (onError === undefined) return log;
  const callOnError = async (error: InformerError): Promise<void> => onError(error);
  return (failure) => {
    // `onError` is called immediately. The async wrapper turns a throw into a rejection, so both are handled in one
    // place.
    callOnError(failure).catch((thrown: unknown) => {
      log(failure);
      logger.error({ err: errorMessage(thrown) }, "onError failed");
    });
  };
}
