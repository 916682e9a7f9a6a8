import { manager, typed } from "../scenario/schema.js";
import { forSeconds } from "./draws.js";
import { defineEvent } from "./event-definition.js";

export const leaseLost = defineEvent({
  schema: typed<true | string>(
    {
      description:
        "The leader, or the named controller manager, cannot renew its Lease. It exits after 10 s, and another takes over; one that shares work stops writing after 8 s.",
      anyOf: [{ const: true }, manager],
    },
    "manager",
  ),
  example: true,
  lasts: { byDefault: "30s" },
  effects: ["losesCreations", "restarts"],
  check: (value, { controllerManagers, isSharding }) =>
    value !== true || controllerManagers > 1 || isSharding
      ? []
      : [{ path: [], atKey: true, message: "there is no leader election; add `controllerManagers: 2`" }],
  action(value, { cluster }) {
    const lost = cluster.faults.loseLease(value === true ? undefined : value);
    if (lost === undefined) return { message: "no controller manager leads, so no Lease is lost" };
    const who = value === true ? `${lost.leader} leads, but` : lost.leader;
    return { message: `${who} cannot reach its Lease`, end: lost.end };
  },
  generate: (draw, { replicas }) => (replicas < 2 ? [] : [{ ...forSeconds(draw, 12, 60), leaseLost: true }]),
});
