import { controllerOrManager } from "../scenario/schema.js";
import { forDelay } from "./draws.js";
import { defineEvent } from "./event-definition.js";

export const controllerDown = defineEvent({
  schema: {
    description:
      "A controller, a controller manager or, with `all`, every one is killed: what it has not written is lost.",
    ...controllerOrManager,
  },
  example: "cronjob-controller",
  lasts: "untilTheEnd",
  isGraftable: true,
  effects: ["restarts"],
  action(value, { cluster: { faults } }) {
    const name = value === "all" ? undefined : value;
    return {
      message: `${name ?? "the controller manager"} is killed`,
      begin: () => faults.controllerDown(name),
      end: () => faults.controllerUp(name),
    };
  },
  generate: (draw, { targets }) => [
    {
      ...forDelay(draw),
      controllerDown: draw.fork("all").chance(0.5) ? "all" : draw.fork("which").pick(targets.controllers),
    },
  ],
});
