/** Runs a hunt in its own thread: a mutant may crash it. */
import { pathToFileURL } from "node:url";
import { parentPort, workerData } from "node:worker_threads";

import { type Hunt, type Minimised, type Simulation, hunt, minimiseCaught } from "./hunt.ts";

export interface HuntOrder {
  readonly mutated: string;
  readonly unmutated: string;
  readonly from: number;
  readonly seeds: number;
  readonly sharding: number | undefined;
  readonly inPlan: readonly RegExp[];
  readonly compare: boolean;
  readonly without: readonly string[];
  /** Starts no seed after this number of milliseconds. */
  readonly forMs: number;
  /** Maximum number of runs for the minimisation; 0: no minimisation. */
  readonly minimizeBudget: number;
}

export type HuntMessage = HuntEnded | { readonly minimised: Minimised };

export interface HuntEnded {
  readonly hunt: Hunt;
  readonly cpuMs: number;
}

const { mutated, unmutated, forMs, minimizeBudget, ...order } = workerData as HuntOrder;
const options = { ...order, mutated: await load(mutated), unmutated: await load(unmutated) };
const startMs = performance.now();
const cpu = process.threadCpuUsage();
const found = await hunt({ ...options, isOver: () => performance.now() - startMs > forMs });
const { user, system } = process.threadCpuUsage(cpu);
post({ hunt: found, cpuMs: (user + system) / 1000 });
if (found.caught !== undefined && minimizeBudget > 0) {
  const minimised = await minimiseCaught(found.caught, { ...options, maxRuns: minimizeBudget });
  post({ minimised });
}

async function load(path: string): Promise<Simulation> {
  return (await import(pathToFileURL(path).href)) as Simulation;
}

function post(message: HuntMessage): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- Threads have none.
  parentPort?.postMessage(message);
}
