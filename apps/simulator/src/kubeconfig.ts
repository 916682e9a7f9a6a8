import { stringify } from "yaml";

import type { TlsIdentity } from "./tls-identity.js";

/** How to reach a cluster, and as whom. */
export interface KubeconfigOptions {
  readonly url: string;
  readonly tls?: TlsIdentity | undefined;
  readonly token?: string | undefined;
}

/** A kubeconfig whose only context is this cluster. With TLS it trusts the cluster's own authority and no other. */
export function kubeconfigFor({ url, tls, token }: KubeconfigOptions): string {
  // Without TLS there is nothing to verify, but @kubernetes/client-node refuses plain HTTP until it is told so.
  const authority =
    tls === undefined ? { "insecure-skip-tls-verify": true } : { "certificate-authority-data": base64(tls.ca) };
  const certificate =
    tls === undefined
      ? {}
      : { "client-certificate-data": base64(tls.client.cert), "client-key-data": base64(tls.client.key) };
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "kubewright", cluster: { server: url, ...authority } }],
    users: [{ name: "kubewright", user: { ...certificate, ...(token === undefined ? {} : { token }) } }],
    contexts: [{ name: "kubewright", context: { cluster: "kubewright", user: "kubewright" } }],
    "current-context": "kubewright",
  });
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
