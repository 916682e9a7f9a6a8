import type { KubernetesObject } from "@kubewright/api";

import type { Write } from "./write.js";

/** Lets what is made from a stored template have parts of it unseen. */
export function rememberValidatedTemplate({ server, target }: Write, object: KubernetesObject): void {
  const spec = target.resource.strategy.podTemplate?.(object)?.spec;
  if (spec !== undefined) server.schemas.ofType("PodSpec").validatedValues?.add(spec);
}
