import { errorMessage } from "@kubewright/client";

/**
 * Combines errors into one: `undefined` for none; for more than one, the distinct messages as `[first, second]`.
 *
 * Upstream: apimachinery `util/errors.NewAggregate`.
 */
export function aggregateErrors(errors: readonly unknown[]): Error | undefined {
  if (errors.length === 0) return undefined;
  const messages = [...new Set(errors.map(errorMessage))];
  return new AggregateError(errors, messages.length === 1 ? messages[0] : `[${messages.join(", ")}]`);
}
