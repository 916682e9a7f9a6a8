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
  /**
   * Runs a program to its end, without standard input; `undefined` when no program has that name. The end of this
   * process ends the program and all programs that it has started. @throws InterruptedError when this process is asked
   * to stop. Default: no programs.
   */
  readonly execute?: (
    command: string,
    args: readonly string[],
    options?: ExecuteOptions,
  ) => Promise<ExecuteResult | undefined>;
  /** Connects to the cluster of a kubeconfig. Default: no network. */
  readonly connect?: (options: ConnectOptions) => Promise<ClusterConnection>;
}

export interface ExecuteOptions {
  /** Ends the program after this time. Default: no limit. */
  readonly timeoutMs?: number;
  /** Ends the program when its output is larger, in bytes. Default 64 MB. */
  readonly maxBytes?: number;
  /**
   * Whether the program, if it is kustomize or Helm, may use the network and the plugins of its user. Default false: it
   * finds no proxy, no plugins, and Git no protocol.
   */
  readonly network?: boolean;
}

export interface ExecuteResult {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Why the program was ended. */
  readonly ended?: "timeout" | "output";
}
