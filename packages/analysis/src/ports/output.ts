/** What a command prints. */
export interface Output {
  readonly stdout: TextStream;
  readonly stderr: TextStream;
  /** Displays the progress of a long run. Default: no display. */
  readonly progress?: () => Promise<Progress>;
}

export interface TextStream {
  write(text: string): void;
  readonly isTerminal: boolean;
  /** Columns of the terminal; 0 when unknown. */
  readonly columns: number;
  /** Whether to use colours: on a terminal, unless `NO_COLOR` is set. */
  readonly hasColours: boolean;
}

/** Reports the progress of a long run to the user: one line on a terminal, redrawn in place, otherwise lines of a log. */
export interface Progress {
  /**
   * @param share - 0 to 1.
   * @param simulatedMs - Virtual time since the start, for the speed. Default: no speed.
   */
  show(share: number, text: string, simulatedMs?: number): void;
  /** Erases the line. */
  clear(): void;
}

/** For commands without a progress display. */
export const silentProgress: Progress = { show: () => {}, clear: () => {} };
