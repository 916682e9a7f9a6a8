import type { FaultPlan } from "../fault-plan.js";
import { mutatePlan } from "./mutate-plan.js";

/** Makes the plan of a seed. */
export type MakePlan = (seed: number) => FaultPlan;

/**
 * The plan of a name: `7` is that of seed 7, and `7+3+12` what two changes made of it. A name is all it takes to have the plan
 * again.
 *
 * @returns `undefined` for what is no name.
 */
export function planNamed(name: string, makePlan: MakePlan): FaultPlan | undefined {
  const numbers = name.split("+").map((part) => (/^\d{1,10}$/.test(part) ? Number(part) : Number.NaN));
  const [seed, ...changes] = numbers;
  if (seed === undefined || !numbers.every((number) => number <= LARGEST_SEED)) return undefined;
  return changes.reduce((plan, number) => mutatePlan(plan, number, makePlan(number)), makePlan(seed));
}

export const LARGEST_SEED = 0xffff_ffff;

/** How often a plan was changed. */
export function changesOf(name: string): number {
  return name.split("+").length - 1;
}
