import type { Files, HostProcess, Threads, Output } from "@kubewright/analysis/ports";
import type { FuzzPool } from "../fuzz/fuzz-pool.js";
import type { MutantKit } from "../fuzz/mutant-kit.js";
import type { ProcessHost } from "../process-kubelet/process-host.js";

/** All inputs and outputs of the command. Only the `Io` that main builds accesses the machine. */
export interface Io extends Output, Files, HostProcess, Threads {
  /**
   * Starts threads that run fault plans, with the runner at the URL instead of the standard one. Default: this thread.
   */
  readonly fuzzWorkers?: (count: number | undefined, runnerUrl: string | undefined) => Promise<FuzzPool>;
  /** Loads the known bugs; `undefined` outside a checkout of the repository. Default: none. */
  readonly mutants?: () => Promise<MutantKit | undefined>;
  /** Starts processes of pods; `undefined` on platforms without process groups. Default: none. */
  readonly processHost?: () => Promise<ProcessHost | undefined>;
  /** Environment variables that name a kubeconfig or a proxy. Default: none. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}
