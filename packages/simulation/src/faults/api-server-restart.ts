import { typed } from "../scenario/schema.js";
import { defineEvent } from "./event-definition.js";

export const apiServerRestart = defineEvent({
  schema: typed<true>({
    description: "The API server restarts: watches end, and earlier resource versions are unknown.",
    const: true,
  }),
  example: true,
  isGraftable: true,
  effects: ["hidesPods", "refusesRequests"],
  action: (_value, { cluster: { faults, apiServer } }) => ({
    message: "the API server restarts",
    begin: () => faults.restartApiServer(apiServer),
  }),
  generate: () => [{ apiServerRestart: true }],
});
