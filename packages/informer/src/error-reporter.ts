import { errorMessage } from "@kubewright/client";
import { type Clock, standardErrorLogger } from "@kubewright/clock";

import type { InformerError } from "./informer-error.js";

/**
 * Who is told of an informer's failures: the caller, or, if there is none or it throws, standard error. Never throws.
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
    // Called at once. What an asynchronous function rejects with is no less unheard than what another throws.
    callOnError(failure).catch((thrown: unknown) => {
      log(failure);
      logger.error({ err: errorMessage(thrown) }, "onError failed");
    });
  };
}
