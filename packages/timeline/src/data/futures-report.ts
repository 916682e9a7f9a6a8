import type { FigureTable } from "./figure-table.js";

/** Data of the futures page, as JSON. Timelines of single futures are packed separately beside it. */
export interface FuturesReport {
  readonly page: "futures";
  readonly startMs: number;
  readonly endMs: number;
  readonly kubernetes: string;
  readonly timeZoneData: string;
  readonly seeds: { readonly first: number; readonly last: number };
  /** Number of simulated futures. Lower than the number of seeds when the simulation was stopped early. */
  readonly simulated: number;
  /** The description from the scenario file. */
  readonly description?: string;
  /** Remarks shown beside the figures. */
  readonly remarks: readonly string[];
  readonly tables: readonly FigureTable[];
  readonly load: LoadOverTime;
  /** Seeds whose timelines are embedded in the page, in elements with the ids `seed-N`. */
  readonly embedded: readonly number[];
  /** The command line that simulates one future, without its seed. */
  readonly command: string;
}

/** Concurrent load in each time step, over all futures. */
export interface LoadOverTime {
  /** Start of the first step. */
  readonly fromMs: number;
  readonly stepMs: number;
  /** The total of all objects first, then single CronJobs and Jobs. */
  readonly groups: readonly LoadOverTimeOf[];
  /** Number of CronJobs and Jobs without their own bands. */
  readonly omittedGroups: number;
}

export interface LoadOverTimeOf {
  /** Absent for the total of all objects. */
  readonly object?: { readonly kind: "CronJob" | "Job"; readonly namespace: string; readonly name: string };
  readonly pods: LoadBand;
  /** Thousandths of a core. */
  readonly cpuMillis: LoadBand;
  readonly memoryBytes: LoadBand;
}

/** Levels, one per time step. */
export interface LoadBand {
  /** The level that half of the futures do not exceed. */
  readonly p50: readonly number[];
  readonly p95: readonly number[];
  /** The maximum over all futures. `seeds` has the lowest seed that reached it. */
  readonly max: readonly number[];
  readonly seeds: readonly number[];
}
