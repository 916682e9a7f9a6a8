/** A controller of this binary. */
export interface ImplementedController {
  /** As in `--controllers`, health checks and logs. */
  readonly name: string;
  /** Ends the User-Agent, and names the ServiceAccount. */
  readonly clientName: string;
  /** What the rate limit is multiplied with. Default 1. */
  readonly requestsPerAction?: number;
}

/** Controllers this binary runs. Upstream: cmd/kube-controller-manager/app/controllermanager.go `NewControllerDescriptors`. */
export const implementedControllers = [
  { name: "job-controller", clientName: "job-controller" },
  { name: "cronjob-controller", clientName: "cronjob-controller" },
  { name: "pod-garbage-collector-controller", clientName: "pod-garbage-collector" },
  { name: "ttl-after-finished-controller", clientName: "ttl-after-finished-controller" },
  // It asks whether an object is still there before it deletes it.
  { name: "garbage-collector-controller", clientName: "generic-garbage-collector", requestsPerAction: 2 },
] as const satisfies readonly ImplementedController[];

export type ControllerName = (typeof implementedControllers)[number]["name"];
