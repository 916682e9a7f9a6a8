export { ownerReferenceTo } from "./owner-reference.js";

export type {
  ControllerDescription,
  Described,
  OperatorDescription,
  Permission,
  WebhookDescription,
  WebhookRules,
} from "./operator-description.js";
