import { type DeepReadonly, type Pod, type PodCondition } from "@kubewright/api";
import { type Writer, errorMessage } from "@kubewright/client";
import { goQuote } from "@kubewright/cron";

import { failedStatusPatch } from "./failed-status-patch.js";

/**
 * Ends a pod that nobody else will end, and deletes it without grace.
 *
 * Its phase becomes terminal first: else it would look as if it ran for ever to its controller, once it is gone or while it
 * lingers on a finalizer. When that is refused nothing is deleted. The deletion is of this very pod, told by its UID;
 * upstream goes by name alone, and may hit another pod that has just taken it.
 *
 * @returns Whether the pod was marked `Failed`.
 * @throws what the API server refused; 404 and 409 too.
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
