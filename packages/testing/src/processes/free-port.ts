import { randomInt } from "node:crypto";
import { connect } from "node:net";

/** Below what Linux, macOS and Windows hand out by themselves: no connection, and no listener at port 0, takes one of these. */
const FIRST = 20_000;
const BEHIND_LAST = 32_768;
const MAX_TRIES = 100;

/**
 * A port of this machine that nobody listened on a moment ago, between 20000 and 32767. For programs that cannot say which
 * one they were given.
 *
 * @throws Error when a hundred ports are all in use.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const port = randomInt(FIRST, BEHIND_LAST);
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port found between ${FIRST} and ${BEHIND_LAST - 1}`);
}

/** Asked by a connection: a listener of ours could live on for a while in a child process that is just being started. */
function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      resolve(false);
    });
    socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code === "ECONNREFUSED"));
  });
}
