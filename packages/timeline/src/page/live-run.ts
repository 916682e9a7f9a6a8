import type { ReportData } from "../data/report-data.js";

/** A cluster that runs while the page shows it. */
export interface LiveRun {
  /** The data so far. */
  readonly data: ReportData;
  readonly connection: "connecting" | "connected" | "lost";
  /** Number of records that the server had dropped before the page fetched them. */
  readonly missed: number;
  /** The cluster's time. */
  readonly nowMs: number;
  /**
   * Virtual seconds per real second, or `manual` for a clock moved by a client. Absent before the first response of the
   * cluster.
   */
  readonly status: { readonly speed: number | "manual" } | undefined;
  /** Advances a manual clock. @throws Error with the server's message. */
  advance(seconds: number): Promise<void>;
  /** Returns the current object. @throws Error when it does not exist. */
  object(kind: string, namespace: string, name: string): Promise<unknown>;
}

export function isLive(source: ReportData | LiveRun): source is LiveRun {
  return "connection" in source;
}
