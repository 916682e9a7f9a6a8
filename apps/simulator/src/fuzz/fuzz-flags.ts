import { FAULT_KINDS, type FaultKind, suggestion } from "@kubewright/simulation";

import { type SeedRange, parseSeeds } from "../futures/seeds.js";
import type { IndexedJobFlags } from "../indexed-job/indexed-job-flags.js";
import { UserError } from "../user-error.js";

export interface FuzzFlags extends IndexedJobFlags {
  readonly seeds?: string;
  readonly forMinutes?: string;
  readonly faults?: string;
  readonly replay?: string;
  readonly minimize?: boolean;
  readonly save?: string;
  readonly resume?: string;
  readonly mutant?: string;
  readonly listMutants?: boolean;
  readonly json?: string;
  readonly html?: string;
}

const DEFAULT_SEEDS: SeedRange = { first: 1, last: 1_000 };
/** Of a campaign that is ended by time. */
const ALL_SEEDS: SeedRange = { first: 1, last: 0xffff_ffff };

/** Which seeds to play: those that are said; with a budget of time all there are. */
export function seedsOf({ seeds, forMinutes }: FuzzFlags): SeedRange {
  if (seeds !== undefined) return parseSeeds(seeds);
  return forMinutes === undefined ? DEFAULT_SEEDS : ALL_SEEDS;
}

const LONGEST_MINUTES = 7 * 24 * 60;

/** @throws UserError for what is no number of minutes. */
export function parseForMinutes(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const minutes = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || minutes <= 0 || minutes > LONGEST_MINUTES)
    throw new UserError(
      `--for-minutes: ${JSON.stringify(text)} is no number of minutes up to ${LONGEST_MINUTES}; write for example 10`,
    );
  return minutes * 60_000;
}

/** @throws UserError for a kind of fault that there is not. */
export function parseFaults(text: string | undefined): readonly FaultKind[] | undefined {
  if (text === undefined) return undefined;
  if (text === "none") return [];
  return text.split(",").map((part) => {
    const name = part.trim();
    const kind = FAULT_KINDS.find((known) => known === name);
    if (kind === undefined)
      throw new UserError(
        `--faults: there is no fault ${JSON.stringify(name)}; ${suggestion(name, [...FAULT_KINDS, "none"])}`,
      );
    return kind;
  });
}

/** Whether what is to be replayed is named by its seed, and not by a file. */
export function isPlanName(text: string): boolean {
  return /^\d{1,10}(\+\d{1,10})*$/.test(text);
}

const TOGETHER: readonly (readonly [keyof FuzzFlags, readonly (keyof FuzzFlags)[]])[] = [
  [
    "listMutants",
    ["seeds", "forMinutes", "replay", "resume", "mutant", "minimize", "save", "json", "html", "faults", "workers"],
  ],
  ["replay", ["seeds", "forMinutes", "resume", "workers", "chunk", "summary"]],
  ["chunk", ["forMinutes", "resume"]],
];

/** @throws UserError for two flags of which one says nothing to the other. */
export function checkTogether(flags: FuzzFlags): void {
  for (const [flag, others] of TOGETHER)
    for (const other of others)
      if (flags[flag] !== undefined && flags[other] !== undefined)
        throw new UserError(`${nameOf(other)} does not go with ${nameOf(flag)}: leave one of them out`);
}

function nameOf(flag: string): string {
  return `--${flag.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
