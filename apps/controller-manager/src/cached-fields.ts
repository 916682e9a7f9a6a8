import type { ContainerStatus, DeepReadonly, KubernetesObject, Pod, PodSpec, PodStatus } from "@kubewright/api";
import { withoutManagedFields } from "@kubewright/informer";

/**
 * Transform of the informers: keeps only the fields that the controllers of this binary read. Most types lose only
 * `metadata.managedFields`. Pods, the most numerous and largest objects, shrink to an eighth.
 *
 * kube-controller-manager removes only the managed fields: other controllers there read more fields of pods.
 */
export function cachedFields<T extends KubernetesObject>(
  object: DeepReadonly<T>,
  { group, resource }: { readonly group: string; readonly resource: string },
): DeepReadonly<T> {
  // Optional fields may be missing, so the result is still a pod.
  if (group === "" && resource === "pods") return cachedPod(object) as DeepReadonly<T>;
  return withoutManagedFields(object);
}

function cachedPod(pod: DeepReadonly<Pod>): DeepReadonly<Pod> {
  const { spec, status } = pod;
  return {
    metadata: cachedMetadata(pod.metadata),
    ...(spec && { spec: cachedSpec(spec) as DeepReadonly<PodSpec> }),
    ...(status && { status: cachedStatus(status) }),
  };
}

function cachedMetadata({
  managedFields: _managedFields,
  annotations,
  ...rest
}: DeepReadonly<Pod["metadata"]>): DeepReadonly<Pod["metadata"]> {
  const batchAnnotations = Object.entries(annotations ?? {}).filter(([name]) =>
    name.startsWith("batch.kubernetes.io/"),
  );
  return batchAnnotations.length === 0 ? rest : { ...rest, annotations: Object.fromEntries(batchAnnotations) };
}

/** Of the containers, controllers read only sidecars: init containers with restartPolicy `Always`. */
function cachedSpec({ nodeName, initContainers }: DeepReadonly<PodSpec>): Partial<DeepReadonly<PodSpec>> {
  const sidecars = initContainers?.filter(({ restartPolicy }) => restartPolicy === "Always") ?? [];
  return {
    ...(nodeName !== undefined && { nodeName }),
    ...(sidecars.length > 0 && { initContainers: sidecars.map(({ name }) => ({ name, restartPolicy: "Always" })) }),
  };
}

function cachedStatus(status: DeepReadonly<PodStatus>): DeepReadonly<PodStatus> {
  const { phase, reason, conditions, observedGeneration, containerStatuses, initContainerStatuses } = status;
  return {
    ...(phase !== undefined && { phase }),
    ...(reason !== undefined && { reason }),
    ...(observedGeneration !== undefined && { observedGeneration }),
    ...(conditions && { conditions }),
    ...(containerStatuses && { containerStatuses: containerStatuses.map(cachedContainerStatus) }),
    ...(initContainerStatuses && { initContainerStatuses: initContainerStatuses.map(cachedContainerStatus) }),
  };
}

function cachedContainerStatus(status: DeepReadonly<ContainerStatus>): DeepReadonly<ContainerStatus> {
  const { name, ready, restartCount, state } = status;
  const terminated = state?.terminated && cachedTerminated(state.terminated);
  const cached: Partial<DeepReadonly<ContainerStatus>> = {
    name,
    ready,
    restartCount,
    ...(terminated && { state: { terminated } }),
  };
  return cached as DeepReadonly<ContainerStatus>;
}

type Terminated = NonNullable<NonNullable<ContainerStatus["state"]>["terminated"]>;

function cachedTerminated({ exitCode, finishedAt }: DeepReadonly<Terminated>): DeepReadonly<Terminated> {
  return { exitCode, ...(finishedAt !== undefined && { finishedAt }) };
}
