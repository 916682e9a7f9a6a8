import type { SimulationRequest } from "./simulation-request.js";
import type { Problem } from "./problem.js";
import { tryRequest } from "./read-request.js";

/** What is wrong with the texts, as reading them finds and the API server says, without playing them. */
export async function check(
  request: Pick<SimulationRequest, "manifests" | "scenario" | "workloads" | "kubernetesVersion">,
): Promise<readonly Problem[]> {
  return (await tryRequest(request)).problems.all;
}
