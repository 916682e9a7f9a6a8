import type { KubernetesObject, ResourceDefinition } from "@kubewright/api";
import type { Runnable } from "@kubewright/controller";

import type { ControllerContext } from "./controller-context.js";
import type { ControllerDescription } from "./operator-description.js";

/** What a controller is before it runs. Its resources: its own first, then in the order in which they were said. */
export interface DeclaredController extends ControllerDescription {
  readonly definition: ResourceDefinition<KubernetesObject>;
  /** Makes it, once in each run of the operator. */
  readonly build: (context: ControllerContext) => Runnable;
}
