import { stringify } from "yaml";

import type { TlsIdentity } from "./tls-identity.js";

/** The address of a cluster, and the credentials. */
export interface KubeconfigOptions {
  readonly url: string;
  readonly tls?: TlsIdentity | undefined;
  readonly token?: string | undefined;
}

/** Builds a kubeconfig with this cluster as its only context. With TLS it trusts only the cluster's own authority. */
export function kubeconfigFor({ url, tls, token }: KubeconfigOptions): string {
  // Without TLS there is nothing to verify, but @kubernetes/client-node accepts plain HTTP only with this setting.
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
