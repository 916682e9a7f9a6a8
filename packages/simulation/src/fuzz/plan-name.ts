import type { FaultPlan } from "../fault-plan.js";
import { mutatePlan } from "./mutate-plan.js";

/** Generates the plan of a seed. */
export type MakePlan = (seed: number) => FaultPlan;

/**
 * Returns the plan of a name: `7` is the plan of seed 7, `7+3+12` the same plan after two mutations. The name is
 * sufficient to reproduce the plan.
 *
 * @returns `undefined` for an invalid name.
 */
export function planNamed(name: string, makePlan: MakePlan): FaultPlan | undefined {
  const numbers = name.split("+").map((part) => (/^\d{1,10}$/.test(part) ? Number(part) : Number.NaN));
  const [seed, ...changes] = numbers;
  if (seed === undefined || !numbers.every((number) => number <= LARGEST_SEED)) return undefined;
  return changes.reduce((plan, number) => mutatePlan(plan, number, makePlan(number)), makePlan(seed));
}

export const LARGEST_SEED = 0xffff_ffff;

/** Returns the number of mutations of a plan. */
export function changesOf(name: string): number {
  return name.split("+").length - 1;
}
