import type { Pod } from "@kubewright/api";

import { restoreMember } from "../../json.js";

/**
 * Restores all fields of the stored pod that a subresource does not update. The subresource's strategy then sets its
 * own fields.
 */
export function restoreStoredPod(pod: Pod, stored: Pod): void {
  for (const name of ["labels", "annotations", "finalizers", "ownerReferences"] as const)
    restoreMember(pod.metadata, stored.metadata, name);
  restoreMember(pod, stored, "spec");
  restoreMember(pod, stored, "status");
}
