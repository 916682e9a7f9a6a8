import { component, typed } from "../scenario/schema.js";
import { drawComponents, shortOrLong } from "./draws.js";
import { defineEvent } from "./event-definition.js";

export const apiServerDown = defineEvent({
  schema: typed<"all" | readonly string[]>({
    description: "The API server cannot be reached, by all or by some components, and watches are cut.",
    title: "all, or a list of components",
    examples: ["all", "[job-controller]"],
    type: ["string", "array"],
    pattern: "^all$",
    minItems: 1,
    items: component,
  }),
  example: ["kubelet"],
  lasts: "required",
  isGraftable: true,
  effects: ["hidesPods", "losesCreations", "refusesRequests"],
  action(value, { cluster }) {
    const components = value === "all" ? undefined : value;
    return {
      message: `the API server cannot be reached${components === undefined ? "" : ` by ${components.join(", ")}`}`,
      end: cluster.faults.network({ down: true, ...(components === undefined ? {} : { components }) }),
    };
  },
  generate: (draw, context) => [
    {
      for: shortOrLong(draw, "for", 60, [500, 3_000], [10_000, 90_000]),
      apiServerDown: draw.fork("all").chance(0.5) ? "all" : drawComponents(draw, context),
    },
  ],
});
