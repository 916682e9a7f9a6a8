import type { KubernetesObject } from "@kubewright/api";

import type { Write } from "./write.js";

/**
 * Remembers the template's pod spec as validated, so that objects created from the stored template need no validation
 * of it.
 */
export function rememberValidatedTemplate({ server, target }: Write, object: KubernetesObject): void {
  const spec = target.resource.strategy.podTemplate?.(object)?.spec;
  if (spec !== undefined) server.schemas.ofType("PodSpec").validatedValues?.add(spec);
}
