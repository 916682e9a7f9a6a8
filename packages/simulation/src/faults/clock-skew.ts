import { fields, jump, process } from "../scenario/schema.js";
import { direction, drawJump, jumpOf } from "./clocks.js";
import { drawManager, forDelay } from "./draws.js";
import { defineEvent } from "./event-definition.js";

export const clockSkew = defineEvent({
  schema: fields(
    "The wall clock of one controller manager is set forward or back; with `for`, it is set right after.",
    { controllerManager: process, by: { description: "By how much.", ...jump } },
    ["controllerManager", "by"],
  ),
  example: { controllerManager: "controller-manager-1", by: "+1h" },
  lasts: "untilUndone",
  precedesRequests: true,
  effects: ["changesClocks"],
  action: ({ controllerManager, by }, { cluster: { faults } }) => ({
    message: `the clock of ${controllerManager} is set ${direction(jumpOf(by))}`,
    begin: () => faults.jumpClockOf(controllerManager, jumpOf(by)),
    end: () => faults.jumpClockOf(controllerManager, -jumpOf(by)),
  }),
  generate: (draw, context) => [
    { ...forDelay(draw), clockSkew: { controllerManager: drawManager(draw, context), by: drawJump(draw) } },
  ],
});
