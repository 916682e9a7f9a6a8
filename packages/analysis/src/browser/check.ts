import type { SimulationRequest } from "./simulation-request.js";
import type { Problem } from "./problem.js";
import { tryRequest } from "./read-request.js";

/** Returns the problems that the parser and the API server find in the texts, without a simulation. */
export async function check(
  request: Pick<SimulationRequest, "manifests" | "scenario" | "workloads" | "kubernetesVersion">,
): Promise<readonly Problem[]> {
  return (await tryRequest(request)).problems.all;
}
