import type { Output } from "./io.js";

/**
 * One line that shows how far a long run is, redrawn in place. Silent unless it goes to a terminal.
 *
 * Not a library's: those draw to a stream of the process by timers of their own. A run is told of between slices of virtual
 * time, and writes to the {@link Output} it was given.
 */
export class ProgressLine {
  readonly #output: Output;
  #shown = -1;

  constructor(output: Output) {
    this.#output = output;
  }

  /** @param share - 0 to 1. */
  show(share: number, text: string): void {
    const percent = Math.floor(share * 100);
    if (!this.#output.isTerminal || percent === this.#shown) return;
    this.#shown = percent;
    const filled = Math.floor(percent / 5);
    this.#output.write(`\r${"█".repeat(filled)}${"░".repeat(20 - filled)} ${percent}%  ${text}\u001B[K`);
  }

  clear(): void {
    if (this.#shown >= 0) this.#output.write("\r\u001B[K");
  }
}
