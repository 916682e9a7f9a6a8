import type { FuturesReport } from "@kubewright/timeline/data";

import type { SimulationRequestOptions, SimulationRequest } from "./simulation-request.js";
import type { Problem } from "./problem.js";

/** The result of a simulation with many seeds. */
export interface FuturesResult {
  /**
   * The data of the futures page, without timelines. Absent when nothing could be simulated; `problems` has the reason.
   */
  readonly report?: FuturesReport;
  /** The text that `kubewright run --seeds` prints below its title, without colours. */
  readonly summary: string;
  /** Problems in the order of the texts. */
  readonly problems: readonly Problem[];
  /** The equivalent command line. */
  readonly command: string;
}

/**
 * Simulates a request once for each seed, one after the other. Loads its implementation on the first call.
 *
 * @param request - `seeds` has the format of `--seeds`: `1-100`.
 */
export async function simulateFutures(
  request: SimulationRequest & { readonly seeds: string },
  options: SimulationRequestOptions = {},
): Promise<FuturesResult> {
  const { countFutures } = await import("./count-futures.js");
  return countFutures(request, options);
}
