/** A table of figures for a page. A cell is text, optionally with an interval to draw or a link to a future. */
export interface FigureTable {
  readonly title: string;
  /** One sentence that explains the figures. */
  readonly note?: string;
  readonly head: readonly string[];
  /** Whether all columns except the first hold numbers and are right-aligned. */
  readonly isNumeric?: boolean;
  /** Each row has as many cells as the head. The first cell names the row; consecutive equal names are shown once. */
  readonly rows: readonly (readonly FigureCell[])[];
}

export type FigureCell = string | Figure;

export interface Figure {
  readonly text: string;
  /** A share and the bounds of its interval, all between 0 and 1. */
  readonly share?: { readonly share: number; readonly low: number; readonly high: number };
  readonly moment?: Moment;
}

/** A future, and the time in it to show. */
export interface Moment {
  readonly seed: number;
  /** A slot, the creation time of a run, or the time of a peak. Epoch milliseconds where it is a number. */
  readonly at?: number | "mostPods" | "mostCpu";
  /** The object to select. */
  readonly object?: { readonly kind: "CronJob" | "Job"; readonly namespace: string; readonly name: string };
}
