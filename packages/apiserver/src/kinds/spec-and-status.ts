import type { KubernetesObject } from "@kubewright/api";

import { jsonEqual, restoreMember } from "../json.js";
import type { ResourceStrategy, UpdateStrategy } from "../strategy.js";

interface SpecAndStatus extends KubernetesObject {
  spec?: unknown;
  status?: unknown;
}

type Behaviour<T extends KubernetesObject, Member extends keyof ResourceStrategy<T>> = Required<
  Pick<ResourceStrategy<T>, Member>
>;

/**
 * The common behavior of kinds with spec and status: users write the spec, controllers write the status through the
 * `status` subresource, and a changed spec bumps the generation. Spread the result into a strategy before the kind's
 * own members.
 *
 * @param emptyStatus - Creates the status of a new object. Default `{}`.
 */
export function specAndStatus<T extends KubernetesObject>(
  emptyStatus: () => unknown = () => ({}),
  validateStatus?: UpdateStrategy<T>["validateUpdate"],
): Behaviour<T, "prepareForCreate" | "prepareForUpdate" | "bumpsGeneration" | "status"> {
  return {
    ...separateStatus(emptyStatus, validateStatus),
    ...generationOf<SpecAndStatus>("spec"),
    prepareForCreate(object: SpecAndStatus) {
      object.metadata.generation = 1;
      object.status = emptyStatus();
    },
  };
}

/** {@link specAndStatus} for kinds without a generation. */
export function separateStatus<T extends KubernetesObject>(
  emptyStatus: () => unknown,
  validateStatus?: UpdateStrategy<T>["validateUpdate"],
): Behaviour<T, "prepareForCreate" | "prepareForUpdate" | "status"> {
  return {
    prepareForCreate(object: SpecAndStatus) {
      object.status = emptyStatus();
    },
    prepareForUpdate: (object: SpecAndStatus, stored: SpecAndStatus) => restoreMember(object, stored, "status"),
    status: {
      prepareForUpdate: (object: SpecAndStatus, stored: SpecAndStatus) => restoreMember(object, stored, "spec"),
      ...(validateStatus === undefined ? {} : { validateUpdate: validateStatus }),
    },
  };
}

/** The behavior of kinds without status: a changed member bumps the generation. */
export function generationOf<T extends KubernetesObject>(
  member: keyof T,
): Behaviour<T, "prepareForCreate" | "bumpsGeneration"> {
  return {
    prepareForCreate({ metadata }) {
      metadata.generation = 1;
    },
    bumpsGeneration: (object, stored) => !jsonEqual(object[member], stored[member]),
  };
}
