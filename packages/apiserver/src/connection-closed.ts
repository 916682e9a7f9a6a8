/**
 * A client that is gone: nobody's failure, and nobody waits for the answer. Made once, since every body is closed in the
 * end, and an exception of its own, with its stack, would cost more than the body.
 */
export const CONNECTION_CLOSED = new Error("the connection was closed");
