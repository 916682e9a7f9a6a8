import { UserError } from "../errors/user-error.js";

/** Seeds from the first to the last, inclusive. */
export interface SeedRange {
  readonly first: number;
  readonly last: number;
}

const LARGEST_SEED = 0xffff_ffff;
/** Each seed takes as long as a single simulation. */
const MAX_SEEDS = 1_000_000;

/**
 * Reads a range such as `11-20`, or a number of seeds: `5` means seeds 1 to 5.
 *
 * @throws UserError for anything else, an empty range, or more than a million seeds.
 */
export function parseSeeds(text: string): SeedRange {
  const match = /^(\d{1,10})(?:-(\d{1,10}))?$/.exec(text);
  const first = match?.[2] === undefined ? 1 : Number(match[1]);
  const last = Number(match?.[2] ?? match?.[1]);
  if (match === null || last > LARGEST_SEED || first > last)
    throw new UserError(
      `--seeds: ${JSON.stringify(text)} is neither a number of seeds nor a range of whole numbers up to 4294967295; write for example 1-1000`,
    );
  if (last - first >= MAX_SEEDS)
    throw new UserError(
      `--seeds: ${text} are ${(last - first + 1).toLocaleString("en-US")} seeds; the most is 1,000,000`,
    );
  return { first, last };
}

/** Generates the seeds in ascending order. */
export function* seedsOf({ first, last }: SeedRange): Generator<number> {
  for (let seed = first; seed <= last; seed++) yield seed;
}

export function countSeeds({ first, last }: SeedRange): number {
  return last - first + 1;
}

/** `seed 7`, `seeds 1-1000`. */
export function seedsText({ first, last }: SeedRange): string {
  return first === last ? `seed ${first}` : `seeds ${first}-${last}`;
}
