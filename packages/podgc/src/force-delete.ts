import { type DeepReadonly, type Pod, type PodCondition } from "@kubewright/api";
import { type Writer, errorMessage } from "@kubewright/client";
import { goQuote } from "@kubewright/cron";

import { failedStatusPatch } from "./failed-status-patch.js";

/**
 * Marks a pod `Failed`, and deletes it without a grace period.
 *
 * The phase becomes terminal first. Otherwise the pod's controller would see a running pod until its deletion, or for
 * as long as a finalizer delays it. If the patch is refused, nothing is deleted. The deletion has the pod's UID as a
 * precondition. Upstream deletes by name alone, and may delete another pod that was created with the same name.
 *
 * @returns Whether the pod was marked `Failed`.
 * @throws the API server's errors, including 404 and 409.
 * @see kubernetes v1.36 pkg/controller/podgc/gc_controller.go markFailedAndDeletePodWithCondition
 */
export async function markFailedAndDeletePod(
  pods: Pick<Writer<Pod>, "patch" | "delete">,
  pod: DeepReadonly<Pod>,
  { condition, signal }: { readonly condition?: PodCondition; readonly signal: AbortSignal },
): Promise<boolean> {
  const { namespace = "", name = "", uid = "" } = pod.metadata;
  const body = failedStatusPatch(pod, condition);
  if (body !== undefined) {
    try {
      await pods.patch(name, { type: "strategic", body }, { namespace, subresource: "status", signal });
    } catch (error) {
      const patch = goQuote(JSON.stringify(body));
      const message = `failed to patch status ${patch} for pod ${goQuote(namespace)}/${goQuote(name)}: ${errorMessage(error)}`;
      throw new Error(message, { cause: error });
    }
  }
  await pods.delete(name, { namespace, gracePeriodSeconds: 0, preconditions: { uid }, signal });
  return body !== undefined;
}
