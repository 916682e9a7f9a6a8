import { setTimeout as sleep } from "node:timers/promises";

import type { Fault } from "./fault-proxy.js";

/** Resets the connection after this number of watch lines. */
export const cutAfter =
  (lines: number): Fault =>
  async (exchange) => {
    await exchange.pass(lines);
    exchange.cut();
  };

/** After this number of lines, sends half of the next one, and then resets or ends. */
export const truncateAfter =
  (lines: number, how: "cut" | "end"): Fault =>
  async (exchange) => {
    await exchange.pass(lines);
    const line = await exchange.line();
    await exchange.send(line.slice(0, Math.ceil(line.length / 2)));
    if (how === "cut") exchange.cut();
  };

/**
 * After this number of lines, drops the next `dropped` lines (or those that arrive within 100 ms), and then resets or
 * ends.
 */
export const dropAfter =
  (lines: number, dropped: number, how: "cut" | "end"): Fault =>
  async (exchange) => {
    await exchange.pass(lines);
    const patience = sleep(100);
    for (let index = 0; index < dropped; index++) await Promise.race([exchange.line(), patience]);
    if (how === "cut") exchange.cut();
  };

/**
 * Sends the last lines of earlier watches again within this one, and then continues or resets. Replays nothing in an
 * initial stream: the client could not distinguish objects deleted since then from existing ones.
 */
export const replayAfter =
  (lines: number, replayed: number, how: "pass" | "cut" = "pass"): Fault =>
  async (exchange) => {
    const isInitial = exchange.incoming.url?.includes("sendInitialEvents=true") === true;
    const old = isInitial ? [] : exchange.passed.filter((line) => !line.includes("BOOKMARK")).slice(-replayed);
    await exchange.pass(lines);
    for (const line of old) await exchange.send(`${line}\n`);
    if (how === "cut") exchange.cut();
    else await exchange.pass();
  };

/** Closes the connection without a response. */
export const hangUp: Fault = async (exchange) => exchange.cut();

/** Delays the response and each line. */
export const slowBy =
  (ms: number): Fault =>
  async (exchange) => {
    await sleep(ms);
    await exchange.pass(Infinity, { eachMs: ms / 10 });
  };

/** Sends the first lines in small packets, so that chunks end inside words and UTF-8 sequences. */
export const inPieces =
  (lines: number): Fault =>
  async (exchange) => {
    for (let index = 0; index < lines; index++) {
      const bytes = Buffer.from(`${await exchange.line()}\n`);
      for (let from = 0; from < bytes.length; from += 7) await exchange.send(bytes.subarray(from, from + 7));
    }
    await exchange.pass();
  };

/** Sends a response from the proxy itself. */
export const answer =
  (code: number, reason?: string, headers?: Record<string, string>): Fault =>
  async (exchange) =>
    exchange.answer(code, reason === undefined ? "<html>oops</html>" : JSON.stringify(status(code, reason)), headers);

/** Sends invalid lines in the middle of a watch, which then continues. */
export const garbageAfter =
  (lines: number, garbage: string | Uint8Array): Fault =>
  async (exchange) => {
    await exchange.pass(lines);
    await exchange.send(garbage);
    await exchange.pass();
  };

/** Sends an ERROR event and ends the stream. */
export const errorAfter =
  (lines: number, code: number, reason: string): Fault =>
  async (exchange) => {
    await exchange.pass(lines);
    await exchange.send(`${JSON.stringify({ type: "ERROR", object: status(code, reason) })}\n`);
  };

/** Resets the connection in the middle of a list. */
export const cutBody: Fault = async (exchange) => {
  const body = await exchange.line();
  await exchange.send(body.slice(0, body.length >> 1));
  exchange.cut();
};

/** Ends a list properly, but in the middle. */
export const endBody: Fault = async (exchange) => {
  const body = await exchange.line();
  await exchange.send(body.slice(0, body.length >> 1));
};

function status(code: number, reason: string): object {
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: `the proxy says ${reason}`,
    reason,
    code,
  };
}
