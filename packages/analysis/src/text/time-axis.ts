/** Maps a range of time to a number of character cells. */
export class TimeAxis {
  constructor(
    readonly fromMs: number,
    readonly toMs: number,
    readonly width: number,
    /** Offset of the labels' clock from UTC, in milliseconds. */
    readonly offsetMsAt: (timeMs: number) => number = () => 0,
  ) {}

  /** Returns the cell of an instant, limited to the axis. */
  column(timeMs: number): number {
    const share = (timeMs - this.fromMs) / Math.max(1, this.toMs - this.fromMs);
    return Math.min(this.width - 1, Math.max(0, Math.floor(share * this.width)));
  }

  /** Returns tick labels on one line of `width` cells, as many as fit with space between them. */
  labels(): string {
    const lengthMs = this.toMs - this.fromMs;
    const stepMs = STEPS_MS.find((step) => (lengthMs / step) * 9 <= this.width) ?? lengthMs;
    const cells = Array.from({ length: this.width }, () => " ");
    // Ticks are at whole hours and midnights of the wall clock.
    const wallFromMs = this.fromMs + this.offsetMsAt(this.fromMs);
    const anchorMs = Math.floor(wallFromMs / DAY) * DAY;
    const first = anchorMs + Math.ceil((wallFromMs - anchorMs) / stepMs) * stepMs;
    const wallToMs = this.toMs + this.offsetMsAt(this.toMs);
    for (let wallMs = first; wallMs <= wallToMs; wallMs += stepMs) {
      const label = tickLabel(wallMs, stepMs);
      const tickMs = wallMs - this.offsetMsAt(wallMs - this.offsetMsAt(this.fromMs));
      const column = this.column(tickMs);
      if (column + label.length > this.width || cells.slice(column - 1, column).some((cell) => cell !== " ")) continue;
      for (const [offset, character] of label.split("").entries()) cells[column + offset] = character;
    }
    return cells.join("").trimEnd();
  }
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS_MS = [
  ...[1, 2, 5, 10, 15, 30].map((step) => step * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((step) => step * MINUTE),
  ...[1, 2, 3, 6, 12].map((step) => step * HOUR),
  ...[1, 2, 7, 14, 28, 91, 182, 364].map((step) => step * DAY),
];

function tickLabel(timeMs: number, stepMs: number): string {
  const text = new Date(timeMs).toISOString();
  if (stepMs >= DAY) return text.slice(5, 10);
  return timeMs % DAY === 0 && stepMs >= HOUR
    ? text.slice(5, 10)
    : stepMs < MINUTE
      ? text.slice(11, 19)
      : text.slice(11, 16);
}
