import type { World } from "../world.js";

/** Whether some clock of a controller is not the API server's in this run. */
export function clockMayBeWrong({ plan }: World): boolean {
  return (plan.events ?? []).some(({ clockJump, clockSkew }) => clockJump !== undefined || clockSkew !== undefined);
}

/** Whether a sync of the Job controller waits until its caches show what it has written before: on by default since 1.36. */
export function waitsForWrites({ plan }: World): boolean {
  return plan.controllers?.consistencyGate !== false;
}

/** Pods that one sync of the Job controller creates, or removes of a Job that goes on, at most. */
export function podsPerSync({ plan }: World): number {
  return plan.controllers?.maxPodsPerSync ?? 500;
}
