import { stringify } from "yaml";

/** A kubeconfig whose only context is the cluster at `url`. */
export function kubeconfigFor(url: string): string {
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "kubewright", cluster: { server: url } }],
    users: [{ name: "kubewright", user: {} }],
    contexts: [{ name: "kubewright", context: { cluster: "kubewright", user: "kubewright" } }],
    "current-context": "kubewright",
  });
}
