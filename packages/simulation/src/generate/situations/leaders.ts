import type { HappeningEntry } from "../../scenario/scenario-file.js";
import { durationText, offsetText } from "../duration-text.js";
import type { Situation } from "../situation.js";

/** Who leads cannot tell that it does, or stands still, for about as long as others wait. */
export const lostLease: Situation = {
  name: "lost lease",
  shapes: ["replicas"],
  without: ["cronJobs"],
  draw(draw, { replicas, windowMs }) {
    if (replicas < 2) return [];
    const count = draw.fork("count").whole(1, 3);
    return Array.from({ length: count }, (_, number): HappeningEntry => {
      const lots = draw.fork(`loss ${number}`);
      const at = offsetText(lots.fork("at").whole(0, windowMs));
      // Often when it has just given up, and nobody has taken over yet.
      const seconds = lots.fork("briefly").chance(0.3) ? [9, 16] : [8, 75];
      const length = durationText(lots.fork("for").whole(seconds[0]!, seconds[1]!) * 1_000);
      // The first of them is there first, and leads as a rule.
      const which = lots.fork("which").weighted([
        [1, 60],
        [lots.fork("any").whole(1, replicas), 40],
      ]);
      return lots.fork("way").chance(0.5)
        ? { at, for: length, leaseLost: true }
        : { at, for: length, paused: `controller-manager-${which}` };
    });
  },
};
