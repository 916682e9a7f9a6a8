import { jump } from "../scenario/schema.js";
import { direction, drawJump, jumpOf } from "./clocks.js";
import { defineEvent } from "./event-definition.js";

export const clockJump = defineEvent({
  schema: {
    description:
      "The wall clock of the controllers' machine is set forward or back. The API server and the nodes keep the right time, and timers run on.",
    ...jump,
  },
  example: "+2h",
  effects: ["changesClocks"],
  action: (by, { cluster }) => ({
    message: `the controllers' clock is set ${direction(jumpOf(by))}`,
    begin: () => cluster.faults.jumpControllerClock(jumpOf(by)),
  }),
  generate: (draw) => [{ clockJump: drawJump(draw) }],
});
