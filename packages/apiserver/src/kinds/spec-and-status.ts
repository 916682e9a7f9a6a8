import type { KubernetesObject } from "@kubewright/api";

import { jsonEqual, restoreMember } from "../json.js";
import type { ResourceStrategy } from "../strategy.js";

interface SpecAndStatus extends KubernetesObject {
  spec?: unknown;
  status?: unknown;
}

/**
 * What most kinds with a spec and a status do: users write the one and controllers, through `status`, the other, and a
 * changed spec is a new generation. Spread it into a strategy, before what is the kind's own.
 *
 * @param emptyStatus - The status of a new object. Default `{}`.
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
