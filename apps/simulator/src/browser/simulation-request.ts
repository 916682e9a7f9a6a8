/** What is to be played, as somebody wrote it. Absent: what `kubewright run` takes then. */
export interface SimulationRequest {
  /** Kubernetes objects, as YAML or JSON; may hold several documents. Empty when the scenario has its own. */
  readonly manifests: string;
  /** A scenario, as `--scenario` reads it. */
  readonly scenario?: string;
  /** RFC 3339, as `--start`. */
  readonly start?: string;
  /** How long, as `--for`: `30d`. */
  readonly for?: string;
  /** A whole number, as `--seed`. */
  readonly seed?: number;
  /** Zone of CronJobs without one, as `--controller-time-zone`. */
  readonly timeZone?: string;
  /** As `--kubernetes`: `1.34`. */
  readonly kubernetesVersion?: string;
  /** `kind: Workloads`, as `--workloads` reads it. */
  readonly workloads?: string;
}

export interface SimulationOptions {
  /** Hears how much has been played, from 0 to 1. */
  readonly onProgress?: (done: number) => void;
  /** Ends it early: the promise is then rejected with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Version of the time-zone data in use, which browsers do not tell. Default `unknown`. */
  readonly timeZoneData?: string;
}
