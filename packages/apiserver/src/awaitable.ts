/** What is mostly there at once, and sometimes only later: who waits for nothing pays for no promise. */
export type Awaitable<T> = T | Promise<T>;

/**
 * What `use` makes of the value, at once if it is there.
 *
 * @param about - What else `use` is to know, handed on to it: a function that closes over it would be made for each value.
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
