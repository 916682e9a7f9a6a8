import { errorMessage } from "@kubewright/client";

/**
 * One error for many: `undefined` for none, and the messages as `[first, second]`, each named once, for more than one.
 *
 * Upstream: apimachinery `util/errors.NewAggregate`.
 */
export function aggregateErrors(errors: readonly unknown[]): Error | undefined {
  if (errors.length === 0) return undefined;
  const messages = [...new Set(errors.map(errorMessage))];
  return new AggregateError(errors, messages.length === 1 ? messages[0] : `[${messages.join(", ")}]`);
}
