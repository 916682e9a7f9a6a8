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

  /**
   * Whether something had ended when the window began. Of what ends in it nothing is heard that has ended already, so that
   * an end in the very second of the start, which objects tell in whole seconds, was before it.
   *
   * @param text - When something ended that was not heard of before.
   */
  endedBeforeWindow(text: string | undefined): boolean {
    return text !== undefined && Date.parse(text) <= this.startMs;
  }
}
