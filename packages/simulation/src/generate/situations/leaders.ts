import type { ScenarioEventEntry } from "../../faults/registry.js";
import { durationText, offsetText } from "../duration-text.js";
import type { DrawEvents } from "../situation.js";

/** The leader cannot renew its Lease, or is paused, for about as long as the other candidates wait. */
export const lostLease: DrawEvents = (draw, { replicas, windowMs }) => {
  if (replicas < 2) return [];
  const count = draw.fork("count").integer(1, 3);
  return Array.from({ length: count }, (_, number): ScenarioEventEntry => {
    const fork = draw.fork(`loss ${number}`);
    const at = offsetText(fork.fork("at").integer(0, windowMs));
    // Often long enough that the leader has just stopped and no other candidate has taken over yet.
    const seconds = fork.fork("briefly").chance(0.3) ? [9, 16] : [8, 75];
    const length = durationText(fork.fork("for").integer(seconds[0]!, seconds[1]!) * 1_000);
    // The first replica starts first and usually leads.
    const which = fork.fork("which").weighted([
      [1, 60],
      [fork.fork("any").integer(1, replicas), 40],
    ]);
    return fork.fork("way").chance(0.5)
      ? { at, for: length, leaseLost: true }
      : { at, for: length, paused: `controller-manager-${which}` };
  });
};
