import type { Pod } from "@kubewright/api";

import { restoreMember } from "../../json.js";

/** Puts a pod back to what is stored, all that its subresources' writers may send along; they then put their part in. */
export function restoreStoredPod(pod: Pod, stored: Pod): void {
  for (const name of ["labels", "annotations", "finalizers", "ownerReferences"] as const)
    restoreMember(pod.metadata, stored.metadata, name);
  restoreMember(pod, stored, "spec");
  restoreMember(pod, stored, "status");
}
