import type { ScenarioEventEntry } from "../../faults/registry.js";
import { during } from "../plan-events.js";
import type { DrawEvents } from "../situation.js";

/** The leader cannot renew its Lease, or is paused, for about as long as the other candidates wait. */
export const lostLease: DrawEvents = (draw, { replicas, windowMs }) => {
  if (replicas < 2) return [];
  const count = draw.fork("count").integer(1, 3);
  return Array.from({ length: count }, (_, number): ScenarioEventEntry => {
    const fork = draw.fork(`loss ${number}`);
    // Often long enough that the leader has just stopped and no other candidate has taken over yet.
    const [from, to] = fork.fork("briefly").chance(0.3) ? ([9, 16] as const) : ([8, 75] as const);
    // The first replica starts first and usually leads.
    const which = fork.fork("which").weighted([
      [1, 60],
      [fork.fork("any").integer(1, replicas), 40],
    ]);
    return during(
      fork.fork("at").integer(0, windowMs),
      fork.fork("for").integer(from, to) * 1_000,
      fork.fork("way").chance(0.5) ? { leaseLost: true } : { paused: `controller-manager-${which}` },
    );
  });
};
