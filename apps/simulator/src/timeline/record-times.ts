/** Reads the times of records as milliseconds since the epoch. */
export class RecordTimes {
  /** When the window begins. */
  startMs = Number.NEGATIVE_INFINITY;
  #text = "";
  #ms = Number.NaN;

  /** Most records share their time with the one before. */
  msOf(text: string): number {
    if (text !== this.#text) {
      this.#text = text;
      this.#ms = Date.parse(text);
    }
    return this.#ms;
  }

  isBeforeStart(text: string | undefined): boolean {
    return text !== undefined && Date.parse(text) < this.startMs;
  }
}
