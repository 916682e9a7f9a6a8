import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import type { ClusterRole, ClusterRoleBinding, KubernetesObject, Role, RoleBinding } from "@kubewright/api";
import { parseAllDocuments } from "yaml";

const DEPLOY = fileURLToPath(new URL("../../../deploy/", import.meta.url));

/** What `deploy/overlays/NAME` grants, before kustomize has put the namespaces in, and how it starts the manager. */
export interface Overlay {
  readonly roles: readonly (Role | ClusterRole)[];
  readonly bindings: readonly (RoleBinding | ClusterRoleBinding)[];
  /** As Kubernetes would hand them to the process. */
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

/** Reads an overlay, as far as rights and arguments go: what a cluster would be given by `kubectl apply -k`. */
export function readOverlay(name: string): Overlay {
  const folder = `overlays/${name}`;
  const kustomization = read<Kustomization>(`${folder}/kustomization.yaml`)[0]!;
  const namespace = kustomization.namespace ?? "kubewright-system";
  const objects = objectsOf(folder);
  const patches = kustomization.patches ?? [];
  const operations = (kind: string): Operation[] =>
    patches.filter(({ target }) => target.kind === kind).flatMap(({ patch }) => documents<Operation[]>(patch)[0]!);

  const leaseRole = objects.find(({ metadata }) => metadata.name === "kubewright-leader-election") as Role;
  for (const { path, value } of operations("Role")) {
    if (path !== "/rules/1/resourceNames/0") throw new Error(`unknown patch of a Role: ${path}`);
    leaseRole.rules![1]!.resourceNames = [value as string];
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
  const { resources = [], components = [] } = read<Kustomization>(`${folder}/kustomization.yaml`)[0]!;
  return [...resources, ...components].flatMap((entry) => {
    const target = new URL(entry, `file:///${folder}/`).pathname.slice(1);
    return entry.endsWith(".yaml") ? read<KubernetesObject>(target) : objectsOf(target);
  });
}

function read<T>(file: string): T[] {
  return documents<T>(readFileSync(`${DEPLOY}${file}`, "utf8"));
}

function documents<T>(text: string): T[] {
  return parseAllDocuments(text).map((document) => document.toJS() as T);
}
