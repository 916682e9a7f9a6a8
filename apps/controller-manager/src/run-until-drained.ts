import type { Clock } from "@kubewright/clock";
import { type Logger, type Runnable, runAll } from "@kubewright/controller";

export interface Assembly {
  readonly controllers: readonly Runnable[];
  /** What controllers need until their last sync is over: told to stop only then. */
  readonly support: readonly Runnable[];
  /** How long controllers may take to stop, their support included; 0: as long as they like. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Runs controllers until the signal aborts and their last sync is over; then what they needed for that.
 *
 * @throws Error when something fails, or stopping takes longer than the time-out. What is in flight then goes on.
 */
export async function runUntilDrained(
  { controllers, support, timeoutMs, clock, logger }: Assembly,
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
  const stopSupport = new AbortController();
  const finished = new AbortController();
  const supporting = runAll(support, stopSupport.signal);
  const working = runAll([...tracked, untilAborted], signal);
  const tooLong = Promise.withResolvers<never>();
  const limit = async (): Promise<void> => {
    await untilAborted.run(signal);
    if (timeoutMs === 0) return;
    await clock.sleep(timeoutMs, finished.signal);
    logger.error(
      { timeoutSeconds: timeoutMs / 1000, runningControllers: [...running].sort() },
      "Controller shutdown timeout reached",
    );
    tooLong.reject(new Error("controller shutdown timeout reached"));
  };
  limit().catch(() => undefined);
  await Promise.race([working, tooLong.promise, supporting.then(() => working)]);
  logger.info({}, "All controllers terminated");
  stopSupport.abort(signal.reason);
  await Promise.race([supporting, tooLong.promise]);
  finished.abort();
}

/** Keeps a manager without controllers at work. */
const untilAborted: Runnable = {
  name: "until stopped",
  run: (signal) =>
    new Promise((resolve) =>
      signal.aborted ? resolve() : signal.addEventListener("abort", () => resolve(), { once: true }),
    ),
};
