import type { Progress } from "@kubewright/analysis/ports";
import { type Clock, type Timer, formatDuration } from "@kubewright/clock";

/** Where progress is drawn. */
export interface ProgressSurface {
  readonly draw: (share: number, text: string) => void;
  readonly erase: () => void;
  /** Real time before the first drawing, in milliseconds. */
  readonly delayMs: number;
  /** Real time between two drawings, in milliseconds. */
  readonly intervalMs: number;
}

/**
 * Draws the last progress after a delay and then at an interval, with the speed and how to stop. Timers draw it, so that
 * it stays up to date while one step takes long.
 */
export class ProgressDisplay implements Progress {
  readonly #surface: ProgressSurface;
  readonly #clock: Pick<Clock, "monotonic" | "setTimer">;
  #startMs = 0;
  #timer: Timer | undefined;
  #last: { readonly share: number; readonly text: string; readonly simulatedMs: number | undefined } | undefined;

  constructor(surface: ProgressSurface, clock: Pick<Clock, "monotonic" | "setTimer">) {
    this.#surface = surface;
    this.#clock = clock;
  }

  show(share: number, text: string, simulatedMs?: number): void {
    this.#last = { share, text, simulatedMs };
    if (this.#timer !== undefined) return;
    this.#startMs = this.#clock.monotonic();
    this.#drawAfter(this.#surface.delayMs);
  }

  clear(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#last = undefined;
    this.#surface.erase();
  }

  #drawAfter(delayMs: number): void {
    const draw = (): void => {
      this.#draw();
      this.#drawAfter(this.#surface.intervalMs);
    };
    this.#timer = this.#clock.setTimer(delayMs, draw, { background: true });
  }

  #draw(): void {
    const { share, text, simulatedMs } = this.#last!;
    const elapsedMs = this.#clock.monotonic() - this.#startMs;
    const parts = [text];
    if (simulatedMs !== undefined) {
      const factor = Math.round(simulatedMs / elapsedMs);
      parts.push(`${factor.toLocaleString("en-US")} times real time`);
    }
    if (share > 0 && share < 1) {
      const leftSeconds = Math.ceil((elapsedMs * (1 - share)) / share / 1000);
      parts.push(`about ${formatDuration(leftSeconds * 1000)} left`);
    }
    this.#surface.draw(share, `${parts.join(", ")}; Ctrl-C stops`);
  }
}
