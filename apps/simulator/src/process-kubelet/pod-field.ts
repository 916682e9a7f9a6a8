import type { DeepReadonly, Pod } from "@kubewright/api";

import { ConfigError } from "./config-error.js";
import { LOCAL_ADDRESS } from "./pod-status.js";

/**
 * Returns the value of a pod field for the downward API. Upstream: `pkg/fieldpath`.
 *
 * @throws ConfigError for an unsupported field.
 */
export function podField({ metadata, spec }: DeepReadonly<Pod>, path: string): string {
  const [, map, key] = /^metadata\.(annotations|labels)\['(.*)'\]$/.exec(path) ?? [];
  if (map !== undefined && key !== undefined) return metadata[map as "annotations" | "labels"]?.[key] ?? "";
  switch (path) {
    case "metadata.name":
      return metadata.name ?? "";
    case "metadata.namespace":
      return metadata.namespace ?? "";
    case "metadata.uid":
      return metadata.uid ?? "";
    case "metadata.labels":
      return lines(metadata.labels);
    case "metadata.annotations":
      return lines(metadata.annotations);
    case "spec.nodeName":
      return spec?.nodeName ?? "";
    case "spec.serviceAccountName":
      return spec?.serviceAccountName ?? "";
    case "status.hostIP":
    case "status.hostIPs":
    case "status.podIP":
    case "status.podIPs":
      return LOCAL_ADDRESS;
    default:
      throw new ConfigError(`unsupported fieldPath: ${path}`);
  }
}

function lines(map: Readonly<Record<string, string>> = {}): string {
  return Object.entries(map)
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .sort()
    .join("\n");
}
