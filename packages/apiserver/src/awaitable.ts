/** A value that is usually available immediately and sometimes only later. Synchronous code creates no promise. */
export type Awaitable<T> = T | Promise<T>;

/**
 * Calls `use` with the value: synchronously if the value is available, otherwise when the promise resolves.
 *
 * @param context - Passed on to `use`, so that `use` needs no closure per value.
 */
export function andThen<T, U>(value: Awaitable<T>, use: (value: T) => Awaitable<U>): Awaitable<U>;
export function andThen<T, A, U>(
  value: Awaitable<T>,
  use: (value: T, about: A) => Awaitable<U>,
  context: A,
): Awaitable<U>;
export function andThen<T, A, U>(
  value: Awaitable<T>,
  use: (value: T, about?: A) => Awaitable<U>,
  context?: A,
): Awaitable<U> {
  return value instanceof Promise ? thenAsync(value, use, context) : use(value, context);
}

async function thenAsync<T, A, U>(
  value: Promise<T>,
  use: (value: T, about?: A) => Awaitable<U>,
  context?: A,
): Promise<U> {
  return use(await value, context);
}
