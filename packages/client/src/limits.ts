/** Maximum bytes to read of a response. They protect this process's memory from a server that sends more. */
export const limits = {
  /** One event of a watch, as in client-go (apimachinery runtime/serializer/streaming). */
  event: 16 * 2 ** 20,
  /** One item of a list, and everything in the list outside its items. The latter allows about 5 million items. */
  item: 16 * 2 ** 20,
  /** One list. client-go has no limit. */
  list: 2 ** 30,
  /** Any other response. client-go has no limit. */
  response: 64 * 2 ** 20,
  /** The body of an error response; more is ignored. client-go has no limit. */
  errorBody: 2 ** 20,
  /** The rest of an unneeded response. If the rest is longer, the connection is closed. */
  discarded: 64 * 2 ** 10,
} as const;

/** Returns the error for a response part that exceeds its limit. */
export function tooLongError(what: string, limit: number): Error {
  return new Error(`${what} is longer than ${limit / 2 ** 20} MiB, the most that is read`);
}
