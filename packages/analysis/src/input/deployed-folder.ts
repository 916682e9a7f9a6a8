import { builtInResources } from "@kubewright/apiserver";
import type { UnstructuredObject } from "@kubewright/api";

import type { Manifest } from "./manifest.js";

/** A folder of the same repository that a Flux Kustomization or an Argo CD Application deploys. */
export interface DeployedFolder {
  /** `Kustomization flux-system/apps` */
  readonly object: string;
  /** Path from the top of the repository, as written. */
  readonly path: string;
  /** Whether files of its subfolders are deployed too, where no kustomization says otherwise. */
  readonly isRecursive: boolean;
  /** The namespace of its objects: of all, or of those without one. */
  readonly namespace?: { readonly name: string; readonly replaces: boolean };
  /** Values for `${NAME}` in its manifests. Absent: the text stays as it is. */
  readonly variables?: ReadonlyMap<string, string>;
}

/**
 * Returns the folders that an object deploys.
 *
 * @param variablesOf - Returns the data of a ConfigMap, for the variables of Flux.
 * @see https://fluxcd.io/flux/components/kustomize/kustomizations/
 * @see https://argo-cd.readthedocs.io/en/stable/user-guide/application-specification/
 */
export function deployedFolders(
  { apiVersion = "", kind, metadata, ...object }: UnstructuredObject,
  variablesOf: (name: string, namespace: string | undefined) => Readonly<Record<string, string>>,
): readonly DeployedFolder[] {
  const spec = recordOf((object as { spec?: unknown }).spec);
  const name = `${kind} ${metadata.namespace === undefined ? "" : `${metadata.namespace}/`}${metadata.name}`;
  if (kind === "Kustomization" && apiVersion.startsWith("kustomize.toolkit.fluxcd.io/")) {
    const { path = "./", targetNamespace } = spec;
    if (typeof path !== "string") return [];
    const variables = fluxVariables(spec, metadata.namespace, variablesOf);
    return [
      {
        object: name,
        path,
        isRecursive: true,
        ...(typeof targetNamespace === "string" ? { namespace: { name: targetNamespace, replaces: true } } : {}),
        ...(variables === undefined ? {} : { variables }),
      },
    ];
  }
  if (kind === "Application" && apiVersion.startsWith("argoproj.io/")) {
    const { namespace } = recordOf(spec["destination"]);
    const sources = Array.isArray(spec["sources"]) ? (spec["sources"] as unknown[]) : [spec["source"]];
    return sources.map(recordOf).flatMap(({ path, chart, directory }) =>
      typeof path !== "string" || chart !== undefined
        ? []
        : [
            {
              object: name,
              path,
              isRecursive: recordOf(directory)["recurse"] === true,
              ...(typeof namespace === "string" && namespace !== ""
                ? { namespace: { name: namespace, replaces: false } }
                : {}),
            },
          ],
    );
  }
  return [];
}

/**
 * Returns the variables of `postBuild`. Those of Secrets are unknown.
 *
 * @returns `undefined` without `postBuild`.
 */
function fluxVariables(
  spec: Readonly<Record<string, unknown>>,
  namespace: string | undefined,
  variablesOf: (name: string, namespace: string | undefined) => Readonly<Record<string, string>>,
): ReadonlyMap<string, string> | undefined {
  if (spec["postBuild"] === undefined) return undefined;
  const { substitute, substituteFrom } = recordOf(spec["postBuild"]);
  const variables = new Map<string, string>();
  for (const from of Array.isArray(substituteFrom) ? (substituteFrom as unknown[]) : []) {
    const { kind, name } = recordOf(from);
    if (kind !== "ConfigMap" || typeof name !== "string") continue;
    for (const [key, value] of Object.entries(variablesOf(name, namespace))) variables.set(key, value);
  }
  for (const [key, value] of Object.entries(recordOf(substitute))) variables.set(key, String(value));
  return variables;
}

/**
 * Replaces `${NAME}`, `${NAME:-default}` and `${NAME:=default}`. Other expressions, and variables without a value or a
 * default, stay as they are.
 */
export function substituteVariables(text: string, variables: ReadonlyMap<string, string>): string {
  return text.replace(/\$?\$\{(\w+)(?::?[-=]([^}]*))?\}/g, (whole, name: string, byDefault: string | undefined) =>
    whole.startsWith("$$") ? whole.slice(1) : (variables.get(name) ?? byDefault ?? whole),
  );
}

/** Sets the namespace of namespaced built-in kinds. Whether another kind has a namespace is unknown. */
export function withNamespace<Each extends Manifest>(
  manifests: readonly Each[],
  { name, replaces }: { readonly name: string; readonly replaces: boolean },
): Each[] {
  const namespaced = new Set(
    builtInResources()
      .filter(({ definition }) => definition.namespaced)
      .map(({ definition: { group, kind } }) => `${group}/${kind}`),
  );
  return manifests.map((manifest) => {
    const { object } = manifest;
    const { apiVersion = "", kind, metadata } = object;
    const group = apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
    if (!namespaced.has(`${group}/${kind}`) || (metadata.namespace !== undefined && !replaces)) return manifest;
    return { ...manifest, object: { ...object, metadata: { ...metadata, namespace: name } } };
  });
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}
