import type { KubernetesObject, ResourceDefinition } from "@kubewright/api";
import type { Runnable } from "@kubewright/controller";

import type { ControllerContext } from "./controller-context.js";

/** How a controller stands to a resource. */
export type SourceRole = "for" | "owns" | "watches" | "reads" | "writes";

export interface DeclaredResource {
  readonly role: SourceRole;
  readonly definition: ResourceDefinition<KubernetesObject>;
}

/** What a controller is, before it runs: for whoever runs it, or derives from it what it must be allowed to do. */
export interface DeclaredController {
  readonly name: string;
  readonly definition: ResourceDefinition<KubernetesObject>;
  /** The resource itself first, then what it owns, watches, reads and writes, in the order in which it was said. */
  readonly resources: readonly DeclaredResource[];
  /** What it puts on its objects. */
  readonly finalizer: string | undefined;
  /** Makes it, once in each run of the operator. */
  readonly build: (context: ControllerContext) => Runnable;
}
