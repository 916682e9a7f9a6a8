import { type DeepReadonly, type KubernetesObject, keyOf } from "@kubewright/api";
import { type Reader, errorMessage } from "@kubewright/client";

/**
 * Makes the usual condition for adopting: the controller object, read live and not from a cache, is still the same and
 * not being deleted.
 *
 * The function returned throws `can't recheck DeletionTimestamp: …` when the object cannot be read or another one has its
 * name, and `<namespace>/<name> has just been deleted at <time>`.
 *
 * Upstream: kubernetes/pkg/controller RecheckDeletionTimestamp.
 */
export function recheckDeletionTimestamp<T extends KubernetesObject>(
  reader: Pick<Reader<T>, "definition" | "get">,
  controller: DeepReadonly<Pick<KubernetesObject, "metadata">>,
): (signal: AbortSignal) => Promise<void> {
  const { name = "", namespace, uid } = controller.metadata;
  const key = keyOf(controller);
  const read = async (signal: AbortSignal): Promise<DeepReadonly<T>> => {
    const current = await reader.get(name, { namespace, signal });
    if (current.metadata.uid === uid) return current;
    throw new Error(
      `original ${reader.definition.kind} ${key} is gone: got uid ${current.metadata.uid}, wanted ${uid}`,
    );
  };
  return async (signal) => {
    let current: DeepReadonly<T>;
    try {
      current = await read(signal);
    } catch (error) {
      throw new Error(`can't recheck DeletionTimestamp: ${errorMessage(error)}`, { cause: error });
    }
    const { deletionTimestamp } = current.metadata;
    if (deletionTimestamp) throw new Error(`${key} has just been deleted at ${deletionTimestamp}`);
  };
}
