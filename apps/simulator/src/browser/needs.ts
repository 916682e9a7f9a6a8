import type { SimulationRequest } from "./simulation-request.js";

/** Kinds whose objects hold expressions or patterns. */
const KINDS = /CustomResourceDefinition|AdmissionPolicy|WebhookConfiguration/;

/** Whether a request needs controller managers that share work, which a bundle may leave out. Says yes rather too often. */
export function needsSharding({ scenario = "" }: Pick<SimulationRequest, "scenario">): boolean {
  return scenario.includes("sharding") || scenario.includes("\\");
}

/** Whether a request needs what evaluates expressions, which a bundle may leave out. Says yes rather too often. */
export function needsExpressions({
  manifests,
  scenario = "",
}: Pick<SimulationRequest, "manifests" | "scenario">): boolean {
  // What is escaped may be anything.
  return [manifests, scenario].some((text) => KINDS.test(text) || text.includes("\\"));
}
