import type { ReportData } from "../data/report-data.js";

/** A cluster that goes on while it is looked at. */
export interface LiveRun {
  /** What there is so far. */
  readonly data: ReportData;
  readonly connection: "connecting" | "connected" | "lost";
  /** Records that were gone before they could be fetched. */
  readonly missed: number;
  /** The cluster's time. */
  readonly nowMs: number;
  /** Virtual seconds in a real one, or a clock that somebody else moves; absent before the cluster has answered. */
  readonly status: { readonly speed: number | "manual" } | undefined;
  /** Lets a manual clock's time pass. @throws Error with the server's words. */
  advance(seconds: number): Promise<void>;
  /** The object as it is now. @throws Error when it is gone. */
  object(kind: string, namespace: string, name: string): Promise<unknown>;
}

export function isLive(source: ReportData | LiveRun): source is LiveRun {
  return "connection" in source;
}
