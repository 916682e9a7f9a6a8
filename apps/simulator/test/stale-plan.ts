import { pathToFileURL } from "node:url";

import type { FaultPlan, runPlan } from "@kubewright/simulation";

/**
 * A Job whose controller receives no watch events of Jobs from shortly before the Job ends. A user labels its pod
 * during that time.
 */
export function stalePlan(name = "pi", container = "main"): FaultPlan {
  return {
    apiVersion: "sim.kubewright.dev/v1",
    kind: "Scenario",
    name: "a Job that ends while its controller hears nothing of Jobs",
    seed: 1,
    start: "2026-01-01T00:00:00Z",
    for: "5m",
    controllers: { consistencyGate: false },
    workloads: [{ select: { kind: "Job" }, duration: "10s" }],
    manifests: [
      {
        apiVersion: "batch/v1",
        kind: "Job",
        metadata: { name, namespace: "default" },
        spec: {
          template: {
            spec: { restartPolicy: "Never", containers: [{ name: container, image: "perl:5.34" }] },
          },
        },
      },
    ],
    events: [{ at: "+5s", for: "40s", staleCache: { kind: "Job", controller: "job-controller" } }],
  };
}

/** Returns the runner with a known bug. Requires a checkout of the repository. */
export async function mutantRunner(name: string): Promise<typeof runPlan> {
  const { mutantPath } = (await import(
    new URL("../../../packages/simulation/mutants/build.ts", import.meta.url).href
  )) as { readonly mutantPath: (name: string) => Promise<string> };
  const runner = (await import(pathToFileURL(await mutantPath(name)).href)) as { readonly runPlan: typeof runPlan };
  return runner.runPlan;
}
