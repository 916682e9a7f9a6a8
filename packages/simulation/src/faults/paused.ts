import { process } from "../scenario/schema.js";
import { drawManager, forDelay } from "./draws.js";
import { defineEvent } from "./event-definition.js";

export const paused = defineEvent({
  schema: {
    description:
      "A controller manager is paused: none of its timers, requests, responses and events proceed while time passes.",
    ...process,
  },
  example: "controller-manager-1",
  lasts: "required",
  precedesRequests: true,
  effects: ["losesCreations", "restarts"],
  action: (name, { cluster }) => ({ message: `${name} is paused`, end: cluster.faults.pause(name) }),
  generate: (draw, context) => [{ ...forDelay(draw), paused: drawManager(draw, context) }],
});
