import type { World } from "../world.js";

/** Whether some clock of a controller is not the API server's in this run. */
export function clockMayBeWrong({ plan }: World): boolean {
  return (plan.happenings ?? []).some(({ clockJump, clockSkew }) => clockJump !== undefined || clockSkew !== undefined);
}
