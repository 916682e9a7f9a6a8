/** The texts and options to simulate. Absent members have the defaults of `kubewright run`. */
export interface SimulationRequest {
  /** Kubernetes objects, as YAML or JSON; several documents are permitted. Empty when the scenario has its own. */
  readonly manifests: string;
  /** A scenario, in the format of `--scenario`. */
  readonly scenario?: string;
  /** RFC 3339, like `--start`. Default: the scenario's, or the next full hour. */
  readonly start?: string;
  /** Duration, like `--for`: `30d`. */
  readonly for?: string;
  /** A whole number, like `--seed`. */
  readonly seed?: number;
  /** Time zone of CronJobs without one, like `--controller-time-zone`. */
  readonly timeZone?: string;
  /** Like `--kubernetes`: `1.34`. */
  readonly kubernetesVersion?: string;
  /** `kind: Workloads`, in the format of `--workloads`. */
  readonly workloads?: string;
}

export interface SimulationRequestOptions {
  /** Receives the simulated share, from 0 to 1. */
  readonly onProgress?: (done: number) => void;
  /** Stops the simulation: the promise is then rejected with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Returns the current time in epoch milliseconds. Default: the machine's. */
  readonly now?: () => number;
  /** Version of the time-zone data, which browsers do not expose. Default `unknown`. */
  readonly timeZoneData?: string;
}
