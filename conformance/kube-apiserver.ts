import { missingKubeApiServer, startKubeApiServer } from "@kubewright/testing/processes";

import type { ApiServerLauncher } from "./api-server.ts";

export { missingKubeApiServer };

/**
 * Returns a launcher of a real kube-apiserver and its etcd from a folder (the envtest convention), without other
 * components of Kubernetes.
 */
export function kubeApiServer(assets: string): ApiServerLauncher {
  return {
    name: "kube-apiserver",
    emptiesNamespaces: false,
    start: (folder) => startKubeApiServer(assets, folder),
  };
}
