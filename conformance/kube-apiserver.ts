import { missingKubeApiServer, startKubeApiServer } from "@kubewright/testing/processes";

import type { ApiServerLauncher } from "./api-server.ts";

export { missingKubeApiServer };

/** A real kube-apiserver and its etcd out of a folder (the envtest convention). There is no other part of Kubernetes. */
export function kubeApiServer(assets: string): ApiServerLauncher {
  return {
    name: "kube-apiserver",
    emptiesNamespaces: false,
    start: (folder) => startKubeApiServer(assets, folder),
  };
}
