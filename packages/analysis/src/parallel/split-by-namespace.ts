import type { UnstructuredObject } from "@kubewright/api";
import { type AddedNode, type NodeShape, type PendingPods, defaultNodes, nodesFor } from "@kubewright/cluster";

import { isLive, liveState } from "../input/live-state.js";
import type { Manifest } from "../input/manifest.js";
import { podTemplates } from "../input/pod-templates.js";
import { type PlainSimulation, plainSimulation } from "../run/plain-simulation.js";
import type { RunInput } from "../input/run-input.js";
import type { ScenarioEvent } from "../scenario/scenario.js";
import { clusterScopeTest } from "./cluster-scoped.js";
import { runsPerDay } from "./runs-per-day.js";

/** One namespace on its own nodes. Plain data, so that it can be sent to another thread. */
export interface Segment extends PlainSimulation {
  readonly namespace: string;
  readonly seed: number;
}

export interface PlannedSegment {
  readonly segment: Segment;
  readonly addedNodes: readonly AddedNode[];
  /** Estimated load, in runs per day. */
  readonly weight: number;
}

/** The segments, ordered by namespace; or the reason why the namespaces cannot be simulated separately. */
export type Split = { readonly segments: readonly PlannedSegment[] } | { readonly shared: string };

/**
 * Splits a cluster into independent namespaces.
 *
 * Each namespace has its own nodes and a copy of every cluster-scoped object. Random numbers depend on the namespace's
 * name. So the events in one namespace do not depend on which other namespaces exist.
 */
export function splitByNamespace(input: RunInput, timeZoneData: string): Split {
  const { manifests, scenario, seed, live } = input;
  const scenarioEvents = scenario?.events ?? [];
  const objects = [...manifests, ...scenarioEvents.flatMap(({ objects: applied }) => applied)].map(
    ({ object }) => object,
  );
  const isClusterScoped = clusterScopeTest(objects);
  if (scenario?.nodes !== undefined) return { shared: "namespaces share the nodes that the scenario names" };
  const node = manifests.find(({ object }) => object.kind === "Node" && isClusterScoped(object));
  if (node !== undefined) return { shared: `namespaces share the node ${node.object.metadata.name} (${node.source})` };
  if ((scenario?.controllerManagers ?? 1) > 1)
    return { shared: "namespaces share the Lease of several controller managers" };
  // Node names differ when every namespace has its own nodes.
  const podWithNodeName = podTemplates(withoutLivePods(manifests)).find(({ spec }) => namesANode(spec));
  if (podWithNodeName !== undefined) return { shared: `${podWithNodeName.owner} names a node` };
  const scenarioEventsByNamespace = new Map<string, ScenarioEvent[]>();
  for (const scenarioEvent of scenarioEvents) {
    const namespace = namespaceOfEvent(scenarioEvent, isClusterScoped);
    if (namespace === undefined)
      return { shared: `the event ${scenarioEvent.kind} (${scenarioEvent.place}) is not about a single namespace` };
    scenarioEventsByNamespace.set(namespace, [...(scenarioEventsByNamespace.get(namespace) ?? []), scenarioEvent]);
  }
  const manifestsByNamespace = new Map<string, Manifest[]>();
  const clusterScoped: Manifest[] = [];
  for (const manifest of manifests) {
    const { object } = manifest;
    if (isClusterScoped(object)) clusterScoped.push(manifest);
    else
      manifestsByNamespace.set(namespaceOf(object), [
        ...(manifestsByNamespace.get(namespaceOf(object)) ?? []),
        manifest,
      ]);
  }
  const names = [...new Set([...manifestsByNamespace.keys(), ...scenarioEventsByNamespace.keys()])].sort();
  if (names.length === 0) return { shared: "there is no namespace with anything in it" };
  const { startMs } = input;
  const segments = names.map((namespace) => {
    const ownManifests = manifestsByNamespace.get(namespace) ?? [];
    const all = [...clusterScoped.filter(({ object }) => isVisibleIn(namespace, object)), ...ownManifests];
    const nodes = ownNodes(namespace, defaultNodes);
    const addedNodes = nodesFor(podTemplates(withoutLivePods(all)), nodes).map((added) => ({
      ...added,
      shape: ownNodes(namespace, [added.shape])[0]!,
    }));
    const ownLive = live === undefined ? undefined : liveState(ownManifests);
    const { scenario: _scenario, live: _live, ...others } = input;
    const segment: Segment = {
      namespace,
      seed,
      ...plainSimulation({
        ...others,
        timeZoneData,
        manifests: all,
        nodes: [...nodes, ...addedNodes.map(({ shape }) => shape)],
        ...(ownLive === undefined ? {} : { live: ownLive }),
        // Live state in any namespace is of the time of the start.
        ...(live === undefined ? {} : { createsBeforeStart: false }),
        ...(scenario === undefined
          ? {}
          : { scenario: { ...scenario, events: scenarioEventsByNamespace.get(namespace) ?? [] } }),
      }),
    };
    return {
      segment,
      addedNodes,
      weight: ownManifests.reduce((sum, { object }) => sum + runsPerDay(object, startMs), 0),
    };
  });
  return { segments };
}

/** Returns nodes that only this namespace has: `NAMESPACE-node-1`. A selector by host name still matches. */
export function ownNodes(namespace: string, shapes: readonly NodeShape[]): NodeShape[] {
  return shapes.map((shape) => ({
    ...shape,
    name: `${namespace}-${shape.name}`,
    labels: { [HOSTNAME]: shape.name, ...shape.labels },
  }));
}

const HOSTNAME = "kubernetes.io/hostname";

/** Removes live pods, which are bound to nodes of the exported cluster. Those nodes accept no other pods. */
function withoutLivePods(manifests: readonly Manifest[]): Manifest[] {
  return manifests.filter(({ object }) => object.kind !== "Pod" || !isLive(object));
}

/** Whether the pod selects a node by its name, not by labels. */
function namesANode({ nodeName, affinity }: PendingPods["spec"]): boolean {
  const { nodeSelectorTerms = [] } = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? {};
  return Boolean(nodeName) || nodeSelectorTerms.some(({ matchFields = [] }) => matchFields.length > 0);
}

function namespaceOf({ metadata }: UnstructuredObject): string {
  return metadata.namespace || "default";
}

/**
 * Whether a cluster-scoped object is copied into the segment of the namespace: all kinds, except Namespaces of other
 * segments.
 */
function isVisibleIn(namespace: string, { kind, metadata }: UnstructuredObject): boolean {
  return kind !== "Namespace" || metadata.name === namespace;
}

/** Returns the namespace that the event affects; `undefined` when it affects more than one. */
function namespaceOfEvent(
  scenarioEvent: ScenarioEvent,
  isClusterScoped: (object: UnstructuredObject) => boolean,
): string | undefined {
  switch (scenarioEvent.kind) {
    case "podEvicted":
      return scenarioEvent.value.namespace ?? "default";
    case "patch":
    case "suspend":
    case "resume":
    case "delete": {
      const { kind, namespace = "default" } = scenarioEvent.value;
      return kind === "Node" || kind === "Namespace" ? undefined : namespace;
    }
    case "apply": {
      const objects = scenarioEvent.objects.map(({ object }) => object);
      const names = new Set(objects.map(namespaceOf));
      return names.size !== 1 || objects.some(isClusterScoped) ? undefined : [...names][0];
    }
    default:
      // Controllers, nodes and the API server exist once for all namespaces.
      return undefined;
  }
}
