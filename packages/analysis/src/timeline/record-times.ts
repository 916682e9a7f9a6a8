/** Parses the times of records to epoch milliseconds. */
export class RecordTimes {
  /** Start of the window. */
  startMs = Number.NEGATIVE_INFINITY;
  #text = "";
  #ms = Number.NaN;

  /** Caches the last time, because most records have the time of the previous one. */
  msOf(text: string): number {
    if (text !== this.#text) {
      this.#text = text;
      this.#ms = Date.parse(text);
    }
    return this.#ms;
  }

  /**
   * Returns whether an object had ended before the window. An object that ends in the window is reported before its
   * end. The API has whole seconds, so an unreported end in the second of the start was before it.
   *
   * @param text - End of an object that was not reported before.
   */
  endedBeforeWindow(text: string | undefined): boolean {
    return text !== undefined && Date.parse(text) <= this.startMs;
  }
}
