/**
 * The client closed the connection: not a server failure, and no response is needed. A single instance, because every
 * body reader is closed at the end, and an error with a stack would cost more than the body.
 */
export const CONNECTION_CLOSED = new Error("the connection was closed");
