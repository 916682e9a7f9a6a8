import { setTimeout as sleep } from "node:timers/promises";

import type { Fault } from "./fault-proxy.js";

/** After so many lines of a watch, a reset. */
export const cutAfter =
  (lines: number): Fault =>
  async (exchange) => {
    await exchange.pass(lines);
    exchange.cut();
  };

/** After so many lines, a part of the next, then a reset or a proper end. */
export const truncateAfter =
  (lines: number, how: "cut" | "end"): Fault =>
  async (exchange) => {
    await exchange.pass(lines);
    const line = await exchange.line();
    await exchange.send(line.slice(0, Math.ceil(line.length / 2)));
    if (how === "cut") exchange.cut();
  };

/** Swallows lines, as many as come in a while, before it cuts or ends properly. */
export const dropAfter =
  (lines: number, dropped: number, how: "cut" | "end"): Fault =>
  async (exchange) => {
    await exchange.pass(lines);
    const patience = sleep(100);
    for (let index = 0; index < dropped; index++) await Promise.race([exchange.line(), patience]);
    if (how === "cut") exchange.cut();
  };

/**
 * Plays the last lines of earlier watches again in the middle of this one, and goes on or cuts. Not in an initial stream:
 * there nobody could tell what was deleted since from what is there.
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

/** The connection is closed without an answer. */
export const hangUp: Fault = async (exchange) => exchange.cut();

/** The answer takes its time, and so does each line. */
export const slowBy =
  (ms: number): Fault =>
  async (exchange) => {
    await sleep(ms);
    await exchange.pass(Infinity, { eachMs: ms / 10 });
  };

/** Each byte in a packet of its own for the first lines: chunks end inside words and UTF-8 sequences. */
export const inPieces =
  (lines: number): Fault =>
  async (exchange) => {
    for (let index = 0; index < lines; index++) {
      const bytes = Buffer.from(`${await exchange.line()}\n`);
      for (let from = 0; from < bytes.length; from += 7) await exchange.send(bytes.subarray(from, from + 7));
    }
    await exchange.pass();
  };

/** An answer of the proxy's own. */
export const answer =
  (code: number, reason?: string, headers?: Record<string, string>): Fault =>
  async (exchange) =>
    exchange.answer(code, reason === undefined ? "<html>oops</html>" : JSON.stringify(status(code, reason)), headers);

/** Lines that are not what they should be, in the middle of a watch, which then goes on. */
export const garbageAfter =
  (lines: number, garbage: string | Uint8Array): Fault =>
  async (exchange) => {
    await exchange.pass(lines);
    await exchange.send(garbage);
    await exchange.pass();
  };

/** An ERROR event in the stream, and its end. */
export const errorAfter =
  (lines: number, code: number, reason: string): Fault =>
  async (exchange) => {
    await exchange.pass(lines);
    await exchange.send(`${JSON.stringify({ type: "ERROR", object: status(code, reason) })}\n`);
  };

/** A list whose body breaks off. */
export const cutBody: Fault = async (exchange) => {
  const body = await exchange.line();
  await exchange.send(body.slice(0, body.length >> 1));
  exchange.cut();
};

/** A list that ends properly, in the middle. */
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
