import type { ContainerStatus, DeepReadonly, KubernetesObject, Pod, PodSpec, PodStatus } from "@kubewright/api";
import { withoutManagedFields } from "@kubewright/informer";

/**
 * An informer's transform: what the caches keep of an object is what the controllers of this binary read. Of most types
 * that is all but `metadata.managedFields`; of pods, which are the most and the largest, it is an eighth.
 *
 * Kube-controller-manager drops the managed fields only: its pods are read by controllers that need more of them.
 */
export function cachedFields<T extends KubernetesObject>(
  object: DeepReadonly<T>,
  { group, resource }: { readonly group: string; readonly resource: string },
): DeepReadonly<T> {
  // A pod that lacks optional fields is a pod.
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

/** Of the containers only sidecars are asked for: the init containers that are always restarted. */
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
