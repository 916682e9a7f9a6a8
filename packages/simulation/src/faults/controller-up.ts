import { controllerOrManager } from "../scenario/schema.js";
import { defineEvent } from "./event-definition.js";

export const controllerUp = defineEvent({
  schema: {
    description: "A killed controller or controller manager is started, with empty caches.",
    ...controllerOrManager,
  },
  example: "cronjob-controller",
  action(value, { cluster: { faults } }) {
    const name = value === "all" ? undefined : value;
    return { message: `${name ?? "the controller manager"} is started`, begin: () => faults.controllerUp(name) };
  },
});
