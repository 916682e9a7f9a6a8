import { components, controllerManager, duration, fields } from "../scenario/schema.js";
import { durationOf } from "../scenario/scenario-times.js";
import { drawComponents, forDelay, shortOrLong } from "./draws.js";
import { defineEvent } from "./event-definition.js";

export const apiServerSlow = defineEvent({
  schema: fields(
    "Each request takes longer: of all components, or of some.",
    { by: { description: "How much longer.", ...duration }, components, controllerManager },
    ["by"],
  ),
  example: { by: "2s", components: ["kubelet"] },
  lasts: "required",
  isGraftable: true,
  action({ by, components: named, controllerManager: process }, { cluster }) {
    const end = cluster.faults.network({
      delayMs: durationOf(by),
      ...(named === undefined ? {} : { components: named }),
      ...(process === undefined ? {} : { processes: [process] }),
    });
    const whose = [named?.join(", "), process].filter((who) => who !== undefined);
    return { message: `requests${whose.map((who) => ` of ${who}`).join("")} take ${by} longer`, end };
  },
  generate: (draw, context) => [
    {
      ...forDelay(draw),
      apiServerSlow: {
        by: shortOrLong(draw, "by", 70, [500, 3_000], [10_000, 20_000]),
        ...(draw.fork("all").chance(0.3) ? {} : { components: drawComponents(draw, context) }),
      },
    },
  ],
});
