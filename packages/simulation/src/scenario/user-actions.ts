import {
  type DeepReadonly,
  type KubernetesObject,
  type Node,
  type Pod,
  labelSelectorMatcher,
  nodes,
  pods,
} from "@kubewright/api";
import { type Client, type Patch, type ResourceClient, isNotFound } from "@kubewright/client";
import type { FaultyCluster } from "@kubewright/cluster";
import { isPodTerminal } from "@kubewright/controller";

import { Discovery } from "../discovery.js";
import { type FindUid, resolveOwnerUids } from "../owner-uids.js";
import type { ScenarioAction } from "./scenario-action.js";
import type { ScenarioEvent } from "./scenario-event.js";
import type { ScenarioEventMap, Target } from "./scenario-file.js";
import { DEFINITIONS } from "./target-kinds.js";

const KINDS = ["nodeDrained", "nodeTainted", "podEvicted", "patch", "suspend", "resume", "delete", "apply"] as const;

/** A scenario event that is a user action, as opposed to a fault. */
export type UserScenarioEvent = Extract<ScenarioEvent, { readonly kind: (typeof KINDS)[number] }>;

export function isUserScenarioEvent(scenarioEvent: ScenarioEvent): scenarioEvent is UserScenarioEvent {
  return KINDS.some((kind) => kind === scenarioEvent.kind);
}

/** The user actions of a scenario. They use the API server like every other client, and are subject to its faults. */
export class UserActions {
  readonly #cluster: FaultyCluster;
  readonly #user: Client;

  constructor(cluster: FaultyCluster) {
    this.#cluster = cluster;
    this.#user = cluster.faults.client("user");
  }

  actionOf(scenarioEvent: UserScenarioEvent): ScenarioAction {
    switch (scenarioEvent.kind) {
      case "nodeDrained":
        return this.#nodeDrained(scenarioEvent.value);
      case "nodeTainted":
        return this.#nodeTainted(scenarioEvent.value);
      case "podEvicted": {
        const chosen = this.#podsToEvict(scenarioEvent.value);
        const names = chosen.map(({ metadata }) => metadata.name).join(", ");
        const evict = async (): Promise<void> => {
          for (const pod of chosen) await this.#evict(pod);
        };
        return {
          message: chosen.length === 0 ? "no pod runs that could be evicted" : `evicted: ${names}`,
          begin: evict,
        };
      }
      case "patch": {
        const { type = "merge", with: body, subresource } = scenarioEvent.value;
        const patch = { type, body } as Patch;
        const options = { fieldManager: "user", ...(subresource === undefined ? {} : { subresource }) };
        const verb = subresource === undefined ? "patches" : `patches the ${subresource} of`;
        const action = this.#userAction(verb, scenarioEvent.value, (name, namespace, client) =>
          client.patch(name, patch, { namespace, ...options }),
        );
        return { ...action, message: `${action.message}: ${clip(JSON.stringify(body))}` };
      }
      case "suspend":
        return {
          ...this.#suspension("suspends", scenarioEvent.value, true),
          end: this.#suspension("resumes", scenarioEvent.value, false).begin!,
        };
      case "resume":
        return this.#suspension("resumes", scenarioEvent.value, false);
      case "delete": {
        const { propagation: propagationPolicy = "Background", gracePeriodSeconds } = scenarioEvent.value;
        const options = {
          propagationPolicy,
          ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
        } as const;
        return this.#userAction("deletes", scenarioEvent.value, (name, namespace, client) =>
          client.delete(name, { namespace, ...options }),
        );
      }
      case "apply":
        return this.#apply(scenarioEvent);
      default:
        return scenarioEvent satisfies never;
    }
  }

  #nodeDrained(name: string): ScenarioAction {
    const client = this.#user.resource(nodes);
    const cordon = (unschedulable: boolean): Promise<unknown> =>
      client.patch(name, { type: "merge", body: { spec: { unschedulable } } }, { fieldManager: "user" });
    return {
      message: `node ${name} is drained`,
      involved: { kind: "Node", namespace: "", name },
      begin: async () => {
        await cordon(true);
        for (const pod of this.#pods()) if (pod.spec?.nodeName === name) await this.#evict(pod);
      },
      end: () => cordon(false),
    };
  }

  #nodeTainted({ node: name, key, value, effect }: ScenarioEventMap["nodeTainted"]): ScenarioAction {
    const client = this.#user.resource(nodes);
    const change = async (add: boolean): Promise<void> => {
      const node: DeepReadonly<Node> = await client.get(name);
      const others = (node.spec?.taints ?? []).filter((taint) => taint.key !== key || taint.effect !== effect);
      const taints = add ? [...others, { key, effect, ...(value === undefined ? {} : { value }) }] : others;
      await client.patch(name, { type: "merge", body: { spec: { taints } } }, { fieldManager: "user" });
    };
    return {
      message: `node ${name} is tainted ${key}${value === undefined ? "" : `=${value}`}:${effect}`,
      involved: { kind: "Node", namespace: "", name },
      begin: () => change(true),
      end: () => change(false),
    };
  }

  #podsToEvict({
    namespace = "default",
    name,
    labels,
    job,
    count = 1,
  }: ScenarioEventMap["podEvicted"]): DeepReadonly<Pod>[] {
    const matchLabels = { ...labels, ...(job === undefined ? {} : { "batch.kubernetes.io/job-name": job }) };
    const matches = labelSelectorMatcher({ matchLabels });
    return this.#pods()
      .filter(({ metadata }) => metadata.namespace === namespace && (name === undefined || metadata.name === name))
      .filter(({ metadata }) => matches(metadata.labels))
      .slice(0, count);
  }

  /**
   * Returns the pods that have not ended and are not being deleted: the oldest first, by name within the same second.
   */
  #pods(): DeepReadonly<Pod>[] {
    const all = this.#cluster.informers.informerFor(pods).store.list();
    const age = ({ metadata }: DeepReadonly<Pod>): string =>
      `${metadata.creationTimestamp} ${metadata.namespace}/${metadata.name}`;
    return all
      .filter((pod) => !isPodTerminal(pod) && pod.metadata.deletionTimestamp === undefined)
      .sort((a, b) => (age(a) < age(b) ? -1 : 1));
  }

  #evict({ metadata: { name = "", namespace } }: DeepReadonly<Pod>): Promise<unknown> {
    const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name, namespace } };
    return this.#user.resource(pods).createSubresource(name, "eviction", eviction, { namespace });
  }

  #suspension(verb: string, target: Target, suspend: boolean): ScenarioAction {
    return this.#userAction(verb, target, (name, namespace, client) =>
      client.patch(name, { type: "merge", body: { spec: { suspend } } }, { namespace, fieldManager: "user" }),
    );
  }

  #userAction(
    verb: string,
    { kind, namespace: named, name, labels }: Target,
    action: (name: string, namespace: string | undefined, client: ResourceClient<KubernetesObject>) => Promise<unknown>,
  ): ScenarioAction {
    const definition = DEFINITIONS[kind];
    const namespace = definition.namespaced ? (named ?? "default") : undefined;
    const client = this.#user.resource(definition);
    const place = namespace === undefined ? "" : `${namespace}/`;
    if (name !== undefined) {
      return {
        message: `a user ${verb} ${kind} ${place}${name}`,
        involved: { kind, namespace: namespace ?? "", name },
        begin: () => action(name, namespace, client),
      };
    }
    const matches = labelSelectorMatcher({ matchLabels: labels ?? {} });
    const shown = Object.entries(labels ?? {}).map(([key, value]) => `${key}=${value}`);
    return {
      message: `a user ${verb} the ${kind}s with ${shown.join(", ")}${namespace === undefined ? "" : ` in ${namespace}`}`,
      begin: async () => {
        const { items } = await client.list({ namespace });
        const chosen = items.filter(({ metadata }) => matches(metadata.labels));
        if (chosen.length === 0) throw new Error(`there is no ${kind} with these labels`);
        for (const { metadata } of chosen) await action(metadata.name ?? "", namespace, client);
      },
    };
  }

  async #uidOf(
    { namespace, name, ...kind }: Parameters<FindUid>[0],
    discovery: Discovery,
  ): Promise<string | undefined> {
    const definition = await discovery.find({ ...kind, metadata: { name } });
    if (definition === undefined) return undefined;
    try {
      const object = await this.#user.resource(definition).get(name, definition.namespaced ? { namespace } : {});
      return object.metadata.uid;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  #apply({ objects }: Pick<ScenarioEvent, "objects">): ScenarioAction {
    const names = objects.map(
      ({ object }) => `${object.kind} ${object.metadata.namespace ?? "default"}/${object.metadata.name}`,
    );
    return {
      message: `a user applies ${names.join(", ")}`,
      begin: async () => {
        const discovery = new Discovery(this.#user);
        for (const { object: written } of objects) {
          const object = await resolveOwnerUids(written, (owner) => this.#uidOf(owner, discovery));
          const definition = await discovery.find(object);
          if (definition === undefined)
            throw new Error(`this cluster does not know kind ${object.kind} in ${object.apiVersion}`);
          const namespace = definition.namespaced ? (object.metadata.namespace ?? "default") : undefined;
          const body = namespace === undefined ? object : { ...object, metadata: { ...object.metadata, namespace } };
          await this.#user
            .resource(definition)
            .patch(
              object.metadata.name ?? "",
              { type: "apply", body },
              { namespace, fieldManager: "user", force: true },
            );
        }
      },
    };
  }
}

/** Maximum length of a patch in a message. */
const MAX_PATCH_CHARACTERS = 100;

function clip(text: string): string {
  return text.length <= MAX_PATCH_CHARACTERS ? text : `${text.slice(0, MAX_PATCH_CHARACTERS - 1)}…`;
}
