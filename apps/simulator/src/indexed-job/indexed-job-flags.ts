import { type SeedRange, countSeeds } from "@kubewright/analysis/futures";
import { parseWorkers } from "../options/workers.js";
import { UserError } from "@kubewright/analysis/errors";
import { type JobShape, parseResults } from "./job-manifest.js";

/** Flags of a chunk of `run --seeds` and `fuzz`. */
export interface ChunkFlags {
  readonly chunk?: string;
  readonly summary?: string;
  readonly failExit?: string;
}

export interface IndexedJobFlags extends ChunkFlags {
  readonly indexedJob?: string;
  readonly chunks?: string;
  readonly inputs?: string;
  readonly results?: string;
  readonly workers?: string;
}

/**
 * The default size keeps pods to minutes rather than hours. The default number of chunks limits the load on the
 * cluster.
 */
const DEFAULT_CHUNK_SEEDS = 500;
const MAX_DEFAULT_CHUNKS = 1000;
const MAX_CHUNKS = 100_000;

/** @throws UserError for flags of the Job without `--indexed-job`, and for flags that the Job sets itself. */
export function checkIndexedJob(flags: IndexedJobFlags): void {
  if (flags.indexedJob !== undefined) {
    for (const [flag, value] of [
      ["--chunk", flags.chunk],
      ["--summary", flags.summary],
      ["--fail-exit", flags.failExit],
    ] as const)
      if (value !== undefined)
        throw new UserError(`--indexed-job: the Job it prints says ${flag} itself: leave ${flag} out`);
    return;
  }
  for (const [flag, value] of [
    ["--chunks", flags.chunks],
    ["--inputs", flags.inputs],
    ["--results", flags.results],
  ] as const)
    if (value !== undefined) throw new UserError(`${flag} is of the Job that --indexed-job IMAGE prints`);
}

/** @throws UserError for an invalid Job. */
export function jobShape(flags: IndexedJobFlags, seeds: SeedRange): JobShape {
  const { indexedJob: image = "", inputs } = flags;
  if (image === "") throw new UserError("--indexed-job: name the image that has kubewright in it");
  if (inputs !== undefined && !inputs.startsWith("/"))
    throw new UserError(`--inputs: ${JSON.stringify(inputs)} is no folder of a container; write for example /inputs`);
  return {
    image,
    chunks: parseChunks(flags.chunks, seeds),
    workers: parseWorkers(flags.workers) ?? 1,
    inputs,
    results: parseResults(flags.results),
  };
}

function parseChunks(text: string | undefined, seeds: SeedRange): number {
  const all = countSeeds(seeds);
  if (text === undefined) return Math.min(Math.ceil(all / DEFAULT_CHUNK_SEEDS), MAX_DEFAULT_CHUNKS);
  const chunks = Number(text);
  if (!/^\d{1,6}$/.test(text) || chunks < 1 || chunks > MAX_CHUNKS)
    throw new UserError(`--chunks: ${JSON.stringify(text)} is not a whole number from 1 to ${MAX_CHUNKS}`);
  if (chunks > all)
    throw new UserError(
      `--chunks: ${all.toLocaleString("en-US")} seeds cannot be parted into ${chunks.toLocaleString("en-US")} chunks`,
    );
  return chunks;
}
