/** What is mostly there at once, and sometimes only later: who waits for nothing pays for no promise. */
export type Awaitable<T> = T | Promise<T>;

/** What `use` makes of the value, at once if it is there. */
export function andThen<T, U>(value: Awaitable<T>, use: (value: T) => Awaitable<U>): Awaitable<U> {
  return value instanceof Promise ? value.then(use) : use(value);
}
