/** A table of figures for a page: text, of which some has an interval to draw, and some a future to look at. */
export interface FigureTable {
  readonly title: string;
  /** What the figures are, in a sentence. */
  readonly note?: string;
  readonly head: readonly string[];
  /** Whether all columns but the first hold numbers, and end at the same edge. */
  readonly isNumeric?: boolean;
  /** As many cells as the head has. The first names the row; equal ones that follow one another are shown once. */
  readonly rows: readonly (readonly FigureCell[])[];
}

export type FigureCell = string | Figure;

export interface Figure {
  readonly text: string;
  /** A share with the bounds of its interval, all from 0 to 1. */
  readonly share?: { readonly share: number; readonly low: number; readonly high: number };
  readonly moment?: Moment;
}

/** A future, and where in it to look. */
export interface Moment {
  readonly seed: number;
  /** A slot, or when a run was created; or the time at which there is the most of something. */
  readonly at?: number | "mostPods" | "mostCpu";
  /** Whose. */
  readonly object?: { readonly kind: "CronJob" | "Job"; readonly namespace: string; readonly name: string };
}
