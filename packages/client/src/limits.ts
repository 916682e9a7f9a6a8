/** What is read of an answer at most, in bytes. A server that sends more is not to take our memory with it. */
export const limits = {
  /** One event of a watch, as in client-go (apimachinery runtime/serializer/streaming). */
  event: 16 * 2 ** 20,
  /** One item of a list, and all of it that is not in an item: so there may be about 5 million. */
  item: 16 * 2 ** 20,
  /** A list; client-go knows no end. */
  list: 2 ** 30,
  /** Any other answer; client-go knows no end. */
  response: 64 * 2 ** 20,
  /** Why a request was refused; the rest is passed over. client-go knows no end. */
  errorBody: 2 ** 20,
  /** What is left of an answer nobody wants, before its connection is rather given up. */
  discarded: 64 * 2 ** 10,
} as const;

/** `what` is longer than it may be. */
export function tooLongError(what: string, limit: number): Error {
  return new Error(`${what} is longer than ${limit / 2 ** 20} MiB, the most that is read`);
}
