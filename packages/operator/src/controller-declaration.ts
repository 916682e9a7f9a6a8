import type { KubernetesObject, ResourceDefinition } from "@kubewright/api";
import type { Runnable } from "@kubewright/controller";

import type { ControllerContext } from "./controller-context.js";
import type { ControllerDescription } from "./operator-description.js";

/** A controller before it runs. Its resources are in the order of the declaration, its own resource first. */
export interface DeclaredController extends ControllerDescription {
  readonly definition: ResourceDefinition<KubernetesObject>;
  /** Creates the controller, once in each run of the operator. */
  readonly build: (context: ControllerContext) => Runnable;
}
