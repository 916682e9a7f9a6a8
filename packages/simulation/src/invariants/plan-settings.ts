import type { World } from "../world.js";

/** Reports whether a controller's clock may differ from the API server's in this run. */
export function clockMayBeWrong({ plan }: World): boolean {
  return (plan.events ?? []).some(({ clockJump, clockSkew }) => clockJump !== undefined || clockSkew !== undefined);
}

/**
 * Reports whether a sync of the Job controller waits until the caches show its earlier writes: the default since 1.36.
 */
export function waitsForWrites({ plan }: World): boolean {
  return plan.controllers?.consistencyGate !== false;
}

/** Returns the maximum number of pods that one sync of the Job controller creates, or deletes of an unfinished Job. */
export function podsPerSync({ plan }: World): number {
  return plan.controllers?.maxPodsPerSync ?? 500;
}
