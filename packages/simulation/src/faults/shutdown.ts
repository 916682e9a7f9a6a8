import { manager } from "../scenario/schema.js";
import { defineEvent } from "./event-definition.js";

export const shutdown = defineEvent({
  schema: {
    description:
      "A controller manager that shares work receives SIGTERM, finishes its syncs and releases its buckets. With `for`, it restarts.",
    ...manager,
  },
  example: "controller-manager-2",
  lasts: "untilTheEnd",
  check: (_name, { isSharding }) =>
    isSharding
      ? []
      : [{ path: [], atKey: true, message: "has nothing to give up; add `controllers: { sharding: true }`" }],
  action: (name, { cluster: { faults } }) => ({
    message: `${name} receives SIGTERM`,
    begin: () => faults.shutDown(name),
    end: () => faults.controllerUp(name),
  }),
});
