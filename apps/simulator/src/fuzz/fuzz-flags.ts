import {
  FAULT_KINDS,
  type FaultKind,
  type FaultPlan,
  SHARDING_FAULT_KINDS,
  type ShardingFaultKind,
  generatePlan,
  generateShardedPlan,
  suggestion,
} from "@kubewright/simulation";

import { type SeedRange, parseSeeds } from "@kubewright/analysis/futures";
import type { IndexedJobFlags } from "../indexed-job/indexed-job-flags.js";
import { UserError } from "@kubewright/analysis/errors";

export interface FuzzFlags extends IndexedJobFlags {
  readonly seeds?: string;
  readonly forMinutes?: string;
  readonly faults?: string;
  readonly sharding?: string;
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
/** Seeds of a campaign with a time limit. */
const ALL_SEEDS: SeedRange = { first: 1, last: 0xffff_ffff };

/** Returns the seeds to run: those of `--seeds`; with a time limit, all. */
export function seedsOf({ seeds, forMinutes }: FuzzFlags): SeedRange {
  if (seeds !== undefined) return parseSeeds(seeds);
  return forMinutes === undefined ? DEFAULT_SEEDS : ALL_SEEDS;
}

const LONGEST_MINUTES = 7 * 24 * 60;

/** @throws UserError for anything but a number of minutes up to a week. */
export function parseForMinutes(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const minutes = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || minutes <= 0 || minutes > LONGEST_MINUTES)
    throw new UserError(
      `--for-minutes: ${JSON.stringify(text)} is no number of minutes up to ${LONGEST_MINUTES}; write for example 10`,
    );
  return minutes * 60_000;
}

/** @throws UserError for an unknown kind of fault, or for a sharding fault without `--sharding`. */
export function parseFaults(
  text: string | undefined,
  sharding: number | undefined,
): readonly ShardingFaultKind[] | undefined {
  if (text === undefined) return undefined;
  if (text === "none") return [];
  return text.split(",").map((part) => {
    const name = part.trim();
    const kind = [...FAULT_KINDS, ...SHARDING_FAULT_KINDS].find((known) => known === name);
    if (kind === undefined)
      throw new UserError(
        `--faults: there is no fault ${JSON.stringify(name)}; ${suggestion(name, [...FAULT_KINDS, ...SHARDING_FAULT_KINDS, "none"])}`,
      );
    if (sharding === undefined && !isUnshardedFault(kind))
      throw new UserError(`--faults: ${name} is of controller managers that share work; add --sharding 3`);
    return kind;
  });
}

/** Lists the kinds of fault, in lines for the help. */
export function faultsText(): string {
  const text = `Faults are ${FAULT_KINDS.join(", ")}; with --sharding also ${SHARDING_FAULT_KINDS.join(", ")}.`;
  return text.replaceAll(/(.{1,118})(?: |$)/g, "$1\n").trimEnd();
}

function isUnshardedFault(kind: ShardingFaultKind): kind is FaultKind {
  return FAULT_KINDS.some((known) => known === kind);
}

/** The maximum of scenarios. */
const MAX_MANAGERS = 5;

/** Reads the number of controller managers that share the work. @throws UserError for anything else. */
export function parseSharding(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const managers = Number(text);
  if (!/^\d+$/.test(text) || managers < 1 || managers > MAX_MANAGERS)
    throw new UserError(`--sharding: ${JSON.stringify(text)} is not a whole number from 1 to ${MAX_MANAGERS}`);
  return managers;
}

/** Options of the plan generator. */
export interface PlanChoice {
  readonly faults: readonly ShardingFaultKind[] | undefined;
  readonly sharding: number | undefined;
}

/** Generates the plan of a seed. */
export function planOfSeed({ faults, sharding }: PlanChoice, seed: number): FaultPlan {
  if (sharding !== undefined) return generateShardedPlan(seed, { managers: sharding, faults });
  return generatePlan(seed, faults === undefined ? {} : { faults: faults.filter(isUnshardedFault) });
}

/** Whether the text names a plan by its seed, and not a file. */
export function isPlanName(text: string): boolean {
  return /^\d{1,10}(\+\d{1,10})*$/.test(text);
}

const INCOMPATIBLE: readonly (readonly [keyof FuzzFlags, readonly (keyof FuzzFlags)[]])[] = [
  [
    "listMutants",
    [
      "seeds",
      "forMinutes",
      "replay",
      "resume",
      "mutant",
      "minimize",
      "save",
      "json",
      "html",
      "faults",
      "sharding",
      "workers",
    ],
  ],
  ["replay", ["seeds", "forMinutes", "resume", "workers", "chunk", "summary"]],
  ["chunk", ["forMinutes", "resume"]],
];

/** @throws UserError for two flags that cannot be combined. */
export function checkIncompatibleFlags(flags: FuzzFlags): void {
  for (const [flag, others] of INCOMPATIBLE)
    for (const other of others)
      if (flags[flag] !== undefined && flags[other] !== undefined)
        throw new UserError(`${nameOf(other)} does not go with ${nameOf(flag)}: leave one of them out`);
}

function nameOf(flag: string): string {
  return `--${flag.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
