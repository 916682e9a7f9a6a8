import type { Clock } from "@kubewright/clock";
import { type Logger, type Runnable, StopTimeoutError, withStopDeadline, runInStages } from "@kubewright/controller";

export interface DrainOptions {
  readonly controllers: readonly Runnable[];
  /** What controllers need until their last sync is over: told to stop only then. */
  readonly support: readonly Runnable[];
  /** How long controllers may take to stop, their support included; 0: as long as they like. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** So much earlier than all together, each controller says what it is waiting for. */
const CONTROLLER_TIMEOUT_LEAD_MS = 100;

/** How long one controller may take to stop when all together have `timeoutMs`, or, with 0, as long as they like. */
export function controllerStopTimeoutMs(timeoutMs: number): number {
  return timeoutMs === 0 ? Infinity : Math.max(0, timeoutMs - CONTROLLER_TIMEOUT_LEAD_MS);
}

/**
 * Runs controllers until the signal aborts and their last sync is over; then what they needed for that.
 *
 * @throws Error when something fails, or stopping takes longer than the time-out. What is in flight then goes on.
 */
export async function runUntilDrained(
  { controllers, support, timeoutMs, clock, logger }: DrainOptions,
  signal: AbortSignal,
): Promise<void> {
  const running = new Set<string>();
  const tracked = controllers.map((controller): Runnable => {
    const run = async (stop: AbortSignal): Promise<void> => {
      running.add(controller.name);
      await controller.run(stop);
      running.delete(controller.name);
      logger.debug({ controller: controller.name }, "Controller terminated");
    };
    return { name: controller.name, run };
  });
  const announcement: Runnable = {
    name: "announcement",
    run: async (stop) => {
      await untilAborted.run(stop);
      if (running.size === 0) logger.info({}, "All controllers terminated");
    },
  };
  const drained = runInStages([[...tracked, untilAborted], [announcement], support], signal);
  const limitMs = timeoutMs === 0 ? Infinity : timeoutMs;
  const unfinished = (): string => [...running].join(", ");
  const inTime = await withStopDeadline(drained, { clock, signal, limitMs, unfinished }).then(
    () => true,
    (error: unknown) => {
      if (error instanceof StopTimeoutError) return false;
      throw error;
    },
  );
  if (inTime) return;
  logger.error(
    { timeoutSeconds: timeoutMs / 1000, runningControllers: [...running].sort() },
    "Controller shutdown timeout reached",
  );
  // Upstream's words: what hangs has been named by its controller.
  throw new Error("controller shutdown timeout reached");
}

/** Keeps a manager without controllers at work. */
const untilAborted: Runnable = {
  name: "until stopped",
  run: (signal) =>
    new Promise((resolve) =>
      signal.aborted ? resolve() : signal.addEventListener("abort", () => resolve(), { once: true }),
    ),
};
