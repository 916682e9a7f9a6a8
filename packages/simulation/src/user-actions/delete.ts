import { defineEvent } from "../faults/event-definition.js";
import { amount, oneOf, targetFields, targets } from "../scenario/schema.js";
import { targetAction } from "./target-action.js";

export const deletion = defineEvent({
  schema: targets(
    "A user deletes objects; a Node, as a cloud provider's controller would.",
    {
      ...targetFields,
      propagation: {
        description: "Default: Background, as with kubectl.",
        ...oneOf("Background", "Foreground", "Orphan"),
      },
      gracePeriodSeconds: amount,
    },
    ["kind"],
  ),
  example: { kind: "Job", name: "report", propagation: "Foreground" },
  isUserAction: true,
  omittable: ["gracePeriodSeconds", "propagation"],
  action({ propagation: propagationPolicy = "Background", gracePeriodSeconds, ...target }, run) {
    const grace = gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds };
    return targetAction("deletes", target, run, (name, namespace, client) =>
      client.delete(name, { namespace, propagationPolicy, ...grace }),
    );
  },
});
