import type { ConnectOptions, ClusterConnection } from "./connection.js";

/** The process that a command runs in: its end, memory, programs and network. */
export interface HostProcess {
  /** Aborts when the process is asked to stop. */
  readonly stopped: AbortSignal;
  /** Returns the current time in epoch milliseconds. */
  readonly now: () => number;
  /** Version of the time-zone data in use, e.g. `2026a`. */
  readonly timeZoneData: string;
  /**
   * Keeps the memory of the process close to its live data, at the cost of some time. Call it regularly during long
   * work. Default: no effect.
   */
  readonly holdMemory?: () => void;
  /** Runs a program to its end; `undefined` when no program has that name. Default: no programs. */
  readonly execute?: (command: string, args: readonly string[]) => Promise<ExecuteResult | undefined>;
  /** Connects to the cluster of a kubeconfig. Default: no network. */
  readonly connect?: (options: ConnectOptions) => Promise<ClusterConnection>;
}

export interface ExecuteResult {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}
