/** Controllers this binary runs. Upstream: cmd/kube-controller-manager/app/controllermanager.go `NewControllerDescriptors`. */
export const implementedControllers = [
  { name: "job-controller", clientName: "job-controller" },
  { name: "cronjob-controller", clientName: "cronjob-controller" },
] as const satisfies readonly ImplementedController[];

interface ImplementedController {
  /** As in `--controllers`, health checks and logs. */
  readonly name: string;
  /** Ends the User-Agent, and names the ServiceAccount. */
  readonly clientName: string;
}

export type ControllerName = (typeof implementedControllers)[number]["name"];
