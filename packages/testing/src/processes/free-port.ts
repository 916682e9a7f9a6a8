import { randomInt } from "node:crypto";
import { connect } from "node:net";

/**
 * Below the ephemeral ranges of Linux, macOS and Windows: no connection, and no listener at port 0, gets one of these
 * ports.
 */
const FIRST = 20_000;
const BEHIND_LAST = 32_768;
const MAX_TRIES = 100;

/**
 * Returns a port of this machine without a listener, between 20000 and 32767. For programs that cannot report the port
 * they were assigned.
 *
 * @throws Error when a hundred random ports are all in use.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const port = randomInt(FIRST, BEHIND_LAST);
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port found between ${FIRST} and ${BEHIND_LAST - 1}`);
}

/**
 * Checks by a connection attempt: a child process that is just being started could inherit a listener and keep it open.
 */
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
