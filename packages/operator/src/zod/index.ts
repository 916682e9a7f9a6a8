export { conditions } from "./conditions.js";
export type { ConditionsSchema } from "./conditions.js";
