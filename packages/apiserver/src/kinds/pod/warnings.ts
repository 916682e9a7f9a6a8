import { type Container, type Pod, type PodSpec, type PodTemplateSpec, parseQuantity } from "@kubewright/api";
import { dnsLabelErrors } from "@kubewright/api/validation";

import { overlappingPaths, pathOverlaps } from "./overlapping-paths.js";
import { MAX_WARNINGS } from "../../warning-headers.js";
import { visitContainers } from "./visit-containers.js";

type Projection = NonNullable<NonNullable<NonNullable<PodSpec["volumes"]>[number]["projected"]>["sources"]>[number];
type ContainerPort = NonNullable<Container["ports"]>[number];

/**
 * The number of earlier ports with the same number that a port is compared with. A response has no room for more
 * warnings.
 */
const MAX_COMPARED_PORTS = 64;

/** Deprecated node labels, with the version and the replacement. */
const DEPRECATED_NODE_LABELS: Readonly<Record<string, readonly [since: string, replacement: string]>> = {
  "beta.kubernetes.io/arch": ["v1.14", "kubernetes.io/arch"],
  "beta.kubernetes.io/os": ["v1.14", "kubernetes.io/os"],
  "beta.kubernetes.io/instance-type": ["v1.17", "node.kubernetes.io/instance-type"],
  "failure-domain.beta.kubernetes.io/region": ["v1.17", "topology.kubernetes.io/region"],
  "failure-domain.beta.kubernetes.io/zone": ["v1.17", "topology.kubernetes.io/zone"],
};
/** Deprecated annotations, with the field that replaces them. */
const DEPRECATED_ANNOTATIONS: Readonly<Record<string, string>> = {
  "scheduler.alpha.kubernetes.io/critical-pod": 'non-functional in v1.16+; use the "priorityClassName" field instead',
  "security.alpha.kubernetes.io/sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
  "security.alpha.kubernetes.io/unsafe-sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
  "seccomp.security.alpha.kubernetes.io/pod": 'non-functional in v1.27+; use the "seccompProfile" field instead',
};
const WHOLE_BYTE_RESOURCES = ["memory", "ephemeral-storage"];

/** Upstream: `GetWarningsForPod` in `pkg/api/pod`. */
export function podWarnings({ metadata, spec }: Pod): string[] {
  const sentences = dnsLabelErrors(metadata.name ?? "");
  const warnings =
    metadata.name === undefined || sentences.length === 0
      ? []
      : [
          `metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [${sentences.join(" ")}]`,
        ];
  return [...warnings, ...podSpecWarnings(spec, "spec", metadata.annotations, "metadata")];
}

/** Upstream: `GetWarningsForPodTemplate`. */
export function podTemplateWarnings(template: PodTemplateSpec | undefined, path: string): string[] {
  return podSpecWarnings(template?.spec, `${path}.spec`, template?.metadata?.annotations, `${path}.metadata`);
}

function podSpecWarnings(
  spec: PodSpec | undefined,
  path: string,
  annotations: Readonly<Record<string, string>> | undefined,
  metadataPath: string,
): string[] {
  if (spec === undefined) return [];
  const warnings: string[] = [];
  for (const key in spec.nodeSelector) {
    const deprecation = DEPRECATED_NODE_LABELS[key];
    if (deprecation !== undefined) {
      warnings.push(
        `${path}.nodeSelector[${key}]: deprecated since ${deprecation[0]}; use "${deprecation[1]}" instead`,
      );
    }
  }
  for (const [index, { topologyKey, labelSelector }] of (spec.topologySpreadConstraints ?? []).entries()) {
    const deprecation = DEPRECATED_NODE_LABELS[topologyKey];
    const at = `${path}.topologySpreadConstraints[${index}]`;
    if (deprecation !== undefined) {
      warnings.push(
        `${at}.topologyKey: ${topologyKey} is deprecated since ${deprecation[0]}; use "${deprecation[1]}" instead`,
      );
    }
    if (labelSelector === undefined)
      warnings.push(`${at}.labelSelector: a null labelSelector results in matching no pod`);
  }
  if (annotations !== undefined) {
    for (const key in DEPRECATED_ANNOTATIONS)
      if (annotations[key] !== undefined)
        warnings.push(`${metadataPath}.annotations[${key}]: ${DEPRECATED_ANNOTATIONS[key]!}`);
  }
  if (spec.volumes !== undefined) addVolumeWarnings(spec.volumes, `${path}.volumes`, warnings);
  if (spec.hostAliases !== undefined) addAliasWarnings(spec.hostAliases, `${path}.hostAliases`, warnings);
  if (spec.imagePullSecrets !== undefined)
    addPullSecretWarnings(spec.imagePullSecrets, `${path}.imagePullSecrets`, warnings);
  for (const field of ["initContainers", "containers"] as const)
    spec[field]?.forEach((container, index) => {
      addContainerWarnings(container, `${path}.${field}[${index}]`, warnings);
    });
  if (spec.containers?.some(hasPorts) || spec.initContainers?.some(hasPorts)) addPortWarnings(spec, path, warnings);
  if (spec.overhead !== undefined) addFractionWarnings(spec.overhead, `${path}.overhead`, warnings);
  return warnings;
}

function addAliasWarnings(aliases: NonNullable<PodSpec["hostAliases"]>, path: string, warnings: string[]): void {
  const seen = new Set<string>();
  for (const [index, { ip }] of aliases.entries()) {
    if (seen.has(ip)) warnings.push(`${path}[${index}].ip: duplicate ip "${ip}"`);
    seen.add(ip);
  }
}

function addPullSecretWarnings(
  secrets: NonNullable<PodSpec["imagePullSecrets"]>,
  path: string,
  warnings: string[],
): void {
  const seen = new Set<string>();
  for (const [index, { name = "" }] of secrets.entries()) {
    const at = `${path}[${index}]`;
    if (name === "") warnings.push(`${at}.name: invalid empty name ""`);
    else if (seen.has(name)) warnings.push(`${at}.name: duplicate name "${name}"`);
    seen.add(name);
  }
}

function addVolumeWarnings(volumes: NonNullable<PodSpec["volumes"]>, path: string, warnings: string[]): void {
  for (const [index, { gitRepo }] of volumes.entries()) {
    if (gitRepo) warnings.push(`${path}[${index}].gitRepo: deprecated in v1.11, and disabled by default in v1.33+`);
  }
  for (const { name, secret, configMap, downwardAPI, projected } of volumes) {
    const sources = [
      [`Secret "${secret?.secretName}"`, secret?.items],
      [`ConfigMap "${configMap?.name}"`, configMap?.items],
      ["DownwardAPI", downwardAPI?.items],
    ] as const;
    for (const [source, items] of sources) {
      const overlaps = overlappingPaths((items ?? []).map((item) => item.path));
      if (overlaps.length > 0) warnings.push(`volume "${name}" (${source}): overlapping paths: ${overlaps.join(", ")}`);
    }
    if (projected?.sources !== undefined) addProjectionWarnings(name, projected.sources, warnings);
  }
}

/** Adds warnings for paths that overlap between sources in the same directory. */
function addProjectionWarnings(volume: string, sources: readonly Projection[], warnings: string[]): void {
  const paths: string[] = [];
  const owners: string[] = [];
  for (const source of sources) {
    const { secret, configMap, downwardAPI, serviceAccountToken } = source;
    if (Object.keys(source).length === 0) {
      warnings.push(`volume "${volume}" (Projected) has no sources provided`);
      continue;
    }
    const [owner, items] =
      secret !== undefined
        ? [`Secret "${secret.name ?? ""}"`, secret.items]
        : configMap !== undefined
          ? [`ConfigMap "${configMap.name ?? ""}"`, configMap.items]
          : downwardAPI !== undefined
            ? ["DownwardAPI", downwardAPI.items]
            : ["ServiceAccountToken", serviceAccountToken && [serviceAccountToken]];
    for (const { path } of items ?? []) {
      paths.push(path.replace(/\/+$/, ""));
      owners.push(owner);
    }
  }
  for (const { index, first } of pathOverlaps(paths))
    warnings.push(
      `volume "${volume}" (Projected): overlapping path "${paths[index]}" in ${owners[index]} with "${paths[first]}" in ${owners[first]}`,
    );
}

function addContainerWarnings(container: Container, path: string, warnings: string[]): void {
  const { limits, requests } = container.resources ?? {};
  if (limits !== undefined) addFractionWarnings(limits, `${path}.resources.limits`, warnings);
  if (requests !== undefined) addFractionWarnings(requests, `${path}.resources.requests`, warnings);
  if (container.env !== undefined) addEnvironmentWarnings(container.env, `${path}.env`, warnings);
}

function addEnvironmentWarnings(env: NonNullable<Container["env"]>, path: string, warnings: string[]): void {
  const seen = new Set<string>();
  for (const [index, { name }] of env.entries()) {
    if (seen.has(name))
      warnings.push(`${path}[${index}]: hides previous definition of "${name}", which may be dropped when using apply`);
    seen.add(name);
  }
}

/** Adds warnings for ports that conflict. The containers of a pod share one address. */
function addPortWarnings(spec: PodSpec, path: string, warnings: string[]): void {
  const seen = new Map<string, { field: string; port: ContainerPort }[]>();
  visitContainers(spec, path, ({ ports }, at) => {
    for (const [index, port] of (ports ?? []).entries()) {
      if (warnings.length >= MAX_WARNINGS) return;
      const field = `${at}.ports[${index}]`;
      const key = `${port.containerPort}/${port.protocol}`;
      const others = seen.get(key);
      if (others === undefined) {
        seen.set(key, [{ field, port }]);
        continue;
      }
      for (const other of others) {
        const conflict = portConflict(port, other.port);
        if (conflict !== undefined) warnings.push(`${field}: ${conflict} port definition with ${other.field}`);
      }
      if (others.length < MAX_COMPARED_PORTS) others.push({ field, port });
    }
  });
}

function hasPorts({ ports }: Container): boolean {
  return ports !== undefined;
}

function portConflict(port: ContainerPort, other: ContainerPort): string | undefined {
  const [hostPort = 0, otherHostPort = 0] = [port.hostPort, other.hostPort];
  const [hostIP = "", otherHostIP = ""] = [port.hostIP, other.hostIP];
  if (hostPort === otherHostPort && hostIP === otherHostIP) return "duplicate";
  if (hostPort === 0 || otherHostPort === 0) return "overlapping";
  return hostPort === otherHostPort && (hostIP === "") !== (otherHostIP === "") ? "dangerously ambiguous" : undefined;
}

function addFractionWarnings(quantities: Readonly<Record<string, string>>, path: string, warnings: string[]): void {
  for (const name of WHOLE_BYTE_RESOURCES) {
    const text = quantities[name];
    const quantity = text === undefined ? undefined : parseQuantity(text);
    if (quantity !== undefined && quantity.nanos % 1_000_000_000n !== 0n) {
      warnings.push(`${path}[${name}]: fractional byte value "${text}" is invalid, must be an integer`);
    }
  }
}
