import type { SimulationRequest } from "./simulation-request.js";

/** Kinds whose objects have expressions or patterns. */
const KINDS = /CustomResourceDefinition|AdmissionPolicy|WebhookConfiguration/;

/**
 * Whether a request needs controller managers that share work, which a bundle may omit. May return true when it does
 * not.
 */
export function needsSharding({ scenario = "" }: Pick<SimulationRequest, "scenario">): boolean {
  return scenario.includes("sharding") || scenario.includes("\\");
}

/** Whether a request needs the expression evaluator, which a bundle may omit. May return true when it does not. */
export function needsExpressions({
  manifests,
  scenario = "",
}: Pick<SimulationRequest, "manifests" | "scenario">): boolean {
  // Escaped text can stand for any kind.
  return [manifests, scenario].some((text) => KINDS.test(text) || text.includes("\\"));
}
