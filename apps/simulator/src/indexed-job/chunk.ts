import { type SeedRange, countSeeds } from "@kubewright/analysis/futures";
import { UserError } from "@kubewright/analysis/errors";

/** A part of a range of seeds. `index` counts from 0, like the indexes of a Job. */
export interface Chunk {
  readonly index: number;
  readonly of: number;
}

/** Reads `7/20`. @throws UserError for anything else. */
export function parseChunk(text: string): Chunk {
  const match = /^(\d{1,7})\/(\d{1,7})$/.exec(text);
  const chunk = { index: Number(match?.[1]), of: Number(match?.[2]) };
  if (match === null || chunk.index >= chunk.of)
    throw new UserError(
      `--chunk: ${JSON.stringify(text)} is no part of a whole, counted from 0; write for example 0/20, or $(JOB_COMPLETION_INDEX)/20 in a Job`,
    );
  return chunk;
}

/**
 * Returns the seeds of a chunk. The chunks cover the range, and their sizes differ by at most one. @throws UserError
 * when there are fewer seeds than chunks.
 */
export function chunkOf(seeds: SeedRange, { index, of }: Chunk): SeedRange {
  const all = countSeeds(seeds);
  if (of > all)
    throw new UserError(
      `${all.toLocaleString("en-US")} seeds cannot be parted into ${of.toLocaleString("en-US")} chunks`,
    );
  const begin = (chunk: number): number => seeds.first + Math.floor((all * chunk) / of);
  return { first: begin(index), last: begin(index + 1) - 1 };
}

/**
 * Returns the seeds to run in the format of the flag: all, or those of the chunk. @throws UserError for `--chunk`
 * without `--seeds`, or an invalid chunk.
 */
export function seedsOfChunk(
  { seeds, chunk }: { readonly seeds?: string | undefined; readonly chunk?: string | undefined },
  parse: (text: string) => SeedRange,
): string | undefined {
  if (chunk === undefined) return seeds;
  if (seeds === undefined)
    throw new UserError("--chunk is a part of the seeds: say of which with --seeds, for example --seeds 1-10000");
  const { first, last } = chunkOf(parse(seeds), parseChunk(chunk));
  return `${first}-${last}`;
}
