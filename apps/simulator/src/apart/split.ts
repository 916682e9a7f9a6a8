import type { UnstructuredObject } from "@kubewright/api";
import { type AddedNode, type NodeShape, type PodTemplate, defaultNodes, nodesFor } from "@kubewright/cluster";

import { isLive, liveState } from "../input/live-state.js";
import type { Manifest } from "../input/manifest.js";
import { podTemplates } from "../input/pod-templates.js";
import { type PlainSimulation, plainSimulation } from "../plain-simulation.js";
import type { RunInput } from "../run-input.js";
import type { Happening } from "../scenario/scenario.js";
import { clusterScoped } from "./cluster-scoped.js";
import { runsPerDay } from "./runs-per-day.js";

/** One namespace, on nodes of its own. Plain data, so that it can be handed to another thread. */
export interface Part extends PlainSimulation {
  readonly namespace: string;
  readonly seed: number;
}

export interface PlannedPart {
  readonly part: Part;
  readonly addedNodes: readonly AddedNode[];
  /** About how much there is to do: runs a day. */
  readonly weight: number;
}

/** The namespaces by name; or why they cannot be played apart. */
export type Split = { readonly parts: readonly PlannedPart[] } | { readonly shared: string };

/**
 * Takes a cluster apart into its namespaces, which know nothing of each other: each has nodes of its own, what belongs to no
 * namespace is in all of them, and what is drawn is drawn by the namespace's name, so that what happens in one does not
 * depend on which others there are.
 */
export function splitByNamespace(input: RunInput, timeZoneData: string): Split {
  const { manifests, scenario, seed, live } = input;
  const happenings = scenario?.happenings ?? [];
  const objects = [...manifests, ...happenings.flatMap(({ objects: applied }) => applied)].map(({ object }) => object);
  const isClusterScoped = clusterScoped(objects);
  if (scenario?.nodes !== undefined) return { shared: "namespaces share the nodes that the scenario names" };
  const node = manifests.find(({ object }) => object.kind === "Node" && isClusterScoped(object));
  if (node !== undefined) return { shared: `namespaces share the node ${node.object.metadata.name} (${node.source})` };
  if ((scenario?.controllerManagers ?? 1) > 1)
    return { shared: "namespaces share the Lease that several controller managers hold in turn" };
  // Nodes have other names when every namespace has its own.
  const naming = podTemplates(written(manifests)).find(({ spec }) => namesANode(spec));
  if (naming !== undefined) return { shared: `${naming.owner} names a node` };
  const happeningsIn = new Map<string, Happening[]>();
  for (const happening of happenings) {
    const namespace = namespaceOfHappening(happening, isClusterScoped);
    if (namespace === undefined)
      return { shared: `the happening ${happening.kind} (${happening.place}) is not about a single namespace` };
    happeningsIn.set(namespace, [...(happeningsIn.get(namespace) ?? []), happening]);
  }
  const inNamespace = new Map<string, Manifest[]>();
  const everywhere: Manifest[] = [];
  for (const manifest of manifests) {
    const { object } = manifest;
    if (isClusterScoped(object)) everywhere.push(manifest);
    else inNamespace.set(namespaceOf(object), [...(inNamespace.get(namespaceOf(object)) ?? []), manifest]);
  }
  const names = [...new Set([...inNamespace.keys(), ...happeningsIn.keys()])].sort();
  if (names.length === 0) return { shared: "there is no namespace with anything in it" };
  const { startMs } = input;
  const parts = names.map((namespace) => {
    const own = inNamespace.get(namespace) ?? [];
    const all = [...everywhere.filter(({ object }) => isOf(namespace, object)), ...own];
    const nodes = ownNodes(namespace, defaultNodes);
    const addedNodes = nodesFor(podTemplates(written(all)), nodes).map((added) => ({
      ...added,
      shape: ownNodes(namespace, [added.shape])[0]!,
    }));
    const ownLive = live === undefined ? undefined : liveState(own);
    const { scenario: _scenario, live: _live, ...others } = input;
    const part: Part = {
      namespace,
      seed,
      ...plainSimulation({
        ...others,
        timeZoneData,
        manifests: all,
        nodes: [...nodes, ...addedNodes.map(({ shape }) => shape)],
        ...(ownLive === undefined ? {} : { live: ownLive }),
        ...(scenario === undefined ? {} : { scenario: { ...scenario, happenings: happeningsIn.get(namespace) ?? [] } }),
      }),
    };
    return { part, addedNodes, weight: own.reduce((sum, { object }) => sum + runsPerDay(object, startMs), 0) };
  });
  return { parts };
}

/** Nodes that no other namespace has: `NAMESPACE-node-1`. What selects a node by its host name goes on finding it. */
export function ownNodes(namespace: string, shapes: readonly NodeShape[]): NodeShape[] {
  return shapes.map((shape) => ({
    ...shape,
    name: `${namespace}-${shape.name}`,
    labels: { [HOSTNAME]: shape.name, ...shape.labels },
  }));
}

const HOSTNAME = "kubernetes.io/hostname";

/** Without pods that are on nodes of the cluster they were read from, which take no others. */
function written(manifests: readonly Manifest[]): Manifest[] {
  return manifests.filter(({ object }) => object.kind !== "Pod" || !isLive(object));
}

/** By its name proper, not by its labels. */
function namesANode({ nodeName, affinity }: PodTemplate["spec"]): boolean {
  const { nodeSelectorTerms = [] } = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? {};
  return Boolean(nodeName) || nodeSelectorTerms.some(({ matchFields = [] }) => matchFields.length > 0);
}

function namespaceOf({ metadata }: UnstructuredObject): string {
  return metadata.namespace || "default";
}

/** Of what belongs to no namespace all are told; but of other namespaces a namespace need not know. */
function isOf(namespace: string, { kind, metadata }: UnstructuredObject): boolean {
  return kind !== "Namespace" || metadata.name === namespace;
}

/** The one namespace that a happening is about; `undefined` when it is about more than that. */
function namespaceOfHappening(
  happening: Happening,
  isClusterScoped: (object: UnstructuredObject) => boolean,
): string | undefined {
  switch (happening.kind) {
    case "podEvicted":
      return happening.value.namespace ?? "default";
    case "patch":
    case "suspend":
    case "resume":
    case "delete": {
      const { kind, namespace = "default" } = happening.value;
      return kind === "Node" || kind === "Namespace" ? undefined : namespace;
    }
    case "apply": {
      const objects = happening.objects.map(({ object }) => object);
      const names = new Set(objects.map(namespaceOf));
      return names.size !== 1 || objects.some(isClusterScoped) ? undefined : [...names][0];
    }
    default:
      // Of controllers, nodes and the API server there is one for all.
      return undefined;
  }
}
