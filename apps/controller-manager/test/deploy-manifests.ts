import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import type { ClusterRole, ClusterRoleBinding, KubernetesObject, Role, RoleBinding } from "@kubewright/api";
import { parseAllDocuments } from "yaml";

const DEPLOY = fileURLToPath(new URL("../../../deploy/", import.meta.url));

/**
 * The permissions that `deploy/overlays/NAME` grants, before kustomize sets the namespaces, and the manager's
 * arguments.
 */
export interface Overlay {
  readonly roles: readonly (Role | ClusterRole)[];
  readonly bindings: readonly (RoleBinding | ClusterRoleBinding)[];
  /** Arguments after Kubernetes' variable expansion. */
  readonly args: readonly string[];
  readonly namespace: string;
}

interface Kustomization {
  readonly namespace?: string;
  readonly resources?: readonly string[];
  readonly components?: readonly string[];
  readonly patches?: readonly { readonly target: { readonly kind: string }; readonly patch: string }[];
}

interface Operation {
  readonly op: string;
  readonly path: string;
  readonly value: unknown;
}

/** Reads the permissions and arguments of an overlay, as `kubectl apply -k` would create them. */
export function readOverlay(name: string): Overlay {
  const folder = `overlays/${name}`;
  const kustomization = read<Kustomization>(`${folder}/kustomization.yaml`)[0]!;
  const namespace = kustomization.namespace ?? "kubewright-system";
  const objects = objectsOf(folder);
  const patches = patchesOf(folder);
  const operations = (kind: string): Operation[] =>
    patches.filter(({ target }) => target.kind === kind).flatMap(({ patch }) => documents<Operation[]>(patch)[0]!);

  const leaseRole = objects.find(({ metadata }) => metadata.name === "kubewright-leader-election") as Role;
  for (const { op, path, value } of operations("Role")) {
    if (path === "/rules/1/resourceNames/0") leaseRole.rules![1]!.resourceNames = [value as string];
    else if (path === "/rules/1/verbs") leaseRole.rules![1]!.verbs = value as string[];
    else if (op === "remove" && path === "/rules/2") leaseRole.rules!.splice(2, 1);
    else throw new Error(`unknown patch of a Role: ${op} ${path}`);
  }
  const isMine = (object: KubernetesObject): boolean => !object.kind!.startsWith("Cluster");
  for (const object of objects.filter(isMine)) object.metadata.namespace ??= namespace;

  const deployment = read<{ spec: { template: { spec: { containers: { args: string[] }[] } } } }>(
    "base/deployment.yaml",
  )[0]!;
  const added = operations("Deployment")
    .filter(({ path }) => path.endsWith("/args/-"))
    .map(({ value }) => value as string);
  return {
    namespace,
    roles: objects.filter((object): object is Overlay["roles"][number] => object.kind!.endsWith("Role")),
    bindings: objects.filter((object): object is Overlay["bindings"][number] => object.kind!.endsWith("RoleBinding")),
    args: [...deployment.spec.template.spec.containers[0]!.args, ...added].map((arg) =>
      arg.replace("$(POD_NAMESPACE)", namespace),
    ),
  };
}

function objectsOf(folder: string): KubernetesObject[] {
  return partsOf(folder).flatMap((part) => (part.endsWith(".yaml") ? read<KubernetesObject>(part) : objectsOf(part)));
}

/** Returns all patches, those of the overlay's parts first. */
function patchesOf(folder: string): NonNullable<Kustomization["patches"]> {
  const { patches = [] } = read<Kustomization>(`${folder}/kustomization.yaml`)[0]!;
  return [...partsOf(folder).flatMap((part) => (part.endsWith(".yaml") ? [] : patchesOf(part))), ...patches];
}

function partsOf(folder: string): readonly string[] {
  const { resources = [], components = [] } = read<Kustomization>(`${folder}/kustomization.yaml`)[0]!;
  return [...resources, ...components].map((entry) => new URL(entry, `file:///${folder}/`).pathname.slice(1));
}

function read<T>(file: string): T[] {
  return documents<T>(readFileSync(`${DEPLOY}${file}`, "utf8"));
}

function documents<T>(text: string): T[] {
  return parseAllDocuments(text).map((document) => document.toJS() as T);
}
