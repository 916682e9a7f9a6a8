import { type Clock, untilAborted } from "@kubewright/clock";
import { type Logger, type Runnable, StopTimeoutError, withStopDeadline, runInStages } from "@kubewright/controller";

export interface DrainOptions {
  readonly controllers: readonly Runnable[];
  /** Runnables that controllers need until their last sync has ended. They are stopped after the controllers. */
  readonly support: readonly Runnable[];
  /** How long controllers and support may take to stop together; 0: no limit. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The timeout of each controller is shorter by this time, so that the controller can report what it waits for. */
const CONTROLLER_TIMEOUT_LEAD_MS = 100;

/** Stop timeout of one controller for a total of `timeoutMs`; Infinity for 0. */
export function controllerStopTimeoutMs(timeoutMs: number): number {
  return timeoutMs === 0 ? Infinity : Math.max(0, timeoutMs - CONTROLLER_TIMEOUT_LEAD_MS);
}

/**
 * Runs controllers until the signal aborts and their last sync has ended, then stops their support.
 *
 * @throws Error when a runnable fails, or stopping takes longer than the timeout. Work in flight then continues.
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
      await untilAborted(stop);
      if (running.size === 0) logger.info({}, "All controllers terminated");
    },
  };
  const drained = runInStages([[...tracked, untilStopped], [announcement], support], signal);
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
  // Upstream's message: the controller has reported what hangs.
  throw new Error("controller shutdown timeout reached");
}

/** Keeps a manager without controllers running. */
const untilStopped: Runnable = { name: "until stopped", run: untilAborted };
