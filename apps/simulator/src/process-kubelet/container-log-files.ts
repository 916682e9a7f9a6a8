import type { ContainerStatus, DeepReadonly, Pod } from "@kubewright/api";
import type { ContainerLogs } from "@kubewright/cluster";

import type { LogFile } from "./log-files.js";

/** The log files of containers, by container ID. */
export class ContainerLogFiles {
  readonly #files = new Map<string, LogFile>();

  add(containerId: string, file: LogFile): void {
    this.#files.set(containerId, file);
  }

  remove(containerId: string): void {
    this.#files.delete(containerId);
  }

  /** Serves the `log` subresource of the API server. */
  readonly read: ContainerLogs = (pod, container, options, signal) => {
    const id = loggedContainer(pod, container, options.previous);
    return id === undefined ? undefined : this.#files.get(id)?.read(options, signal);
  };
}

/** Returns the ID of the requested run of a container. Upstream: kubelet_pods.go `validateContainerLogStatus`. */
function loggedContainer({ status }: DeepReadonly<Pod>, container: string, previous: boolean): string | undefined {
  const statuses: readonly DeepReadonly<ContainerStatus>[] = [
    ...(status?.containerStatuses ?? []),
    ...(status?.initContainerStatuses ?? []),
  ];
  const found = statuses.find(({ name }) => name === container);
  const last = found?.lastState?.terminated?.containerID;
  if (previous) return last;
  if (found?.state?.running !== undefined) return found.containerID;
  return found?.state?.terminated?.containerID ?? last;
}
