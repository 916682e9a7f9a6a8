import type { KubernetesObject } from "@kubewright/api";

import { jsonEqual, restoreMember } from "../json.js";
import type { ResourceStrategy } from "../strategy.js";

interface SpecAndStatus extends KubernetesObject {
  spec?: unknown;
  status?: unknown;
}

/**
 * The common behavior of kinds with spec and status: users write the spec, controllers write the status through the
 * `status` subresource, and a changed spec bumps the generation. Spread the result into a strategy before the kind's
 * own members.
 *
 * @param emptyStatus - Creates the status of a new object. Default `{}`.
 */
export function specAndStatus<T extends KubernetesObject>(
  emptyStatus: () => unknown = () => ({}),
): Required<Pick<ResourceStrategy<T>, "prepareForCreate" | "prepareForUpdate" | "bumpsGeneration" | "status">> {
  return {
    prepareForCreate(object: SpecAndStatus) {
      object.metadata.generation = 1;
      object.status = emptyStatus();
    },
    prepareForUpdate: (object: SpecAndStatus, stored: SpecAndStatus) => restoreMember(object, stored, "status"),
    bumpsGeneration: (object: SpecAndStatus, stored: SpecAndStatus) => !jsonEqual(object.spec, stored.spec),
    status: {
      prepareForUpdate: (object: SpecAndStatus, stored: SpecAndStatus) => restoreMember(object, stored, "spec"),
    },
  };
}
