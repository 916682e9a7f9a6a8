import {
  check,
  htmlReport,
  needsExpressions,
  needsSharding,
  runSimulation,
  simulateFutures,
  trace,
} from "@kubewright/analysis/browser";
import { loadExpressions } from "kubewright:expressions";
import { loadSharding } from "kubewright:sharding";

import type { FromEngine, Tasks, ToEngine } from "./messages.ts";

/** The used part of the worker's global scope. TypeScript cannot combine the libraries of windows and workers. */
interface WorkerSide {
  postMessage(message: FromEngine): void;
  addEventListener(type: "message", listener: (event: MessageEvent<ToEngine>) => void): void;
}

/** Minimum interval between progress messages. */
const PROGRESS_EVERY_MS = 50;

const side = globalThis as unknown as WorkerSide;
const running = new Map<number, AbortController>();

side.addEventListener("message", ({ data }) => void handle(data));

async function handle(message: ToEngine): Promise<void> {
  if (message.task === "cancel") return running.get(message.id)?.abort();
  const { id } = message;
  const stop = new AbortController();
  running.set(id, stop);
  try {
    const result = await perform(message, stop.signal);
    side.postMessage({ id, type: "result", result });
  } catch (error) {
    const { name, message: words } = error as Error;
    side.postMessage({ id, type: "failure", message: words, isUsers: name === "UserError" });
  } finally {
    running.delete(id);
  }
}

async function perform(
  message: Exclude<ToEngine, { task: "cancel" }>,
  signal: AbortSignal,
): Promise<Tasks[keyof Tasks]["result"]> {
  const { id } = message;
  let reportedAtMs = -Infinity;
  const options = {
    signal,
    onProgress: (done: number): void => {
      const nowMs = performance.now();
      if (nowMs - reportedAtMs < PROGRESS_EVERY_MS) return;
      reportedAtMs = nowMs;
      side.postMessage({ id, type: "progress", done });
    },
  };
  if (needsExpressions(message.request)) await loadExpressions();
  if (needsSharding(message.request)) await loadSharding();
  if (message.task === "simulate") {
    side.postMessage({ id, type: "problems", problems: await check(message.request) });
    return runSimulation(message.request, options);
  }
  if (message.task === "futures") return simulateFutures(message.request, options);
  if (message.task === "trace") return trace(message.request, options);
  const { page, ...request } = message.request;
  return htmlReport(request, { ...options, page });
}
