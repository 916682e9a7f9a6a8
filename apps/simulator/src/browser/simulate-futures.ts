import type { FuturesReport } from "@kubewright/timeline/data";

import type { SimulationOptions, SimulationRequest } from "./simulation-request.js";
import type { Problem } from "./problem.js";

/** What became of many futures. */
export interface FuturesResult {
  /** What the page of many futures shows, without timelines. Absent when nothing could be played: the problems say why. */
  readonly report?: FuturesReport;
  /** What `kubewright run --seeds` prints below its title, without colours. */
  readonly summary: string;
  /** In the order of the texts. */
  readonly problems: readonly Problem[];
  /** The command that does the same. */
  readonly command: string;
}

/**
 * Plays a request once for every seed, one after the other. What counts them is loaded when it is called.
 *
 * @param request - `seeds` as `--seeds` takes them: `1-100`.
 */
export async function simulateFutures(
  request: SimulationRequest & { readonly seeds: string },
  options: SimulationOptions = {},
): Promise<FuturesResult> {
  const { countFutures } = await import("./count-futures.js");
  return countFutures(request, options);
}
