import type { Clock, Timer } from "@kubewright/clock";

/** Calls `action` every `intervalMs` until the signal aborts; never for an interval that is not positive. */
export function repeat(clock: Clock, intervalMs: number, action: () => void, signal: AbortSignal): void {
  if (!(intervalMs > 0) || signal.aborted) return;
  let timer: Timer;
  const next = (): void => {
    timer = clock.setTimer(
      intervalMs,
      () => {
        next();
        action();
      },
      { background: true },
    );
  };
  next();
  signal.addEventListener("abort", () => timer.cancel(), { once: true });
}
