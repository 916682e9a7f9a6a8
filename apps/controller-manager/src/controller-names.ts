/** A controller of this binary. */
export interface ImplementedController {
  /** Name in `--controllers`, health checks and logs. */
  readonly name: string;
  /** Last part of the User-Agent, and name of the ServiceAccount. */
  readonly clientName: string;
  /** Factor of the rate limit. Default 1. */
  readonly requestsPerAction?: number;
}

/**
 * Controllers that this binary runs. Upstream: cmd/kube-controller-manager/app/controllermanager.go
 * `NewControllerDescriptors`.
 */
export const implementedControllers = [
  { name: "job-controller", clientName: "job-controller" },
  { name: "cronjob-controller", clientName: "cronjob-controller" },
  { name: "pod-garbage-collector-controller", clientName: "pod-garbage-collector" },
  { name: "ttl-after-finished-controller", clientName: "ttl-after-finished-controller" },
  // It reads an object from the API server before it deletes the object.
  { name: "garbage-collector-controller", clientName: "generic-garbage-collector", requestsPerAction: 2 },
] as const satisfies readonly ImplementedController[];

export type ControllerName = (typeof implementedControllers)[number]["name"];
