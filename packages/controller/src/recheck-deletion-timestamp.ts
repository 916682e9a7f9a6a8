import { type DeepReadonly, type KubernetesObject, keyOf } from "@kubewright/api";
import { type Reader, errorMessage } from "@kubewright/client";

/**
 * Returns the usual `canAdopt` check: a live read of the controller object confirms that it is the same object and not
 * being deleted.
 *
 * The returned function throws `can't recheck DeletionTimestamp: …` when the read fails or another object has the name.
 * It throws `<namespace>/<name> has just been deleted at <time>` when the object is being deleted.
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
