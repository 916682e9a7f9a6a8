import {
  type CustomResourceDefinition,
  type DeepReadonly,
  type KubernetesObject,
  type Node,
  type Pod,
  type ResourceDefinition,
  cronJobs,
  customResourceDefinitions,
  jobs,
  labelSelectorMatcher,
  namespaces,
  nodes,
  pods,
} from "@kubewright/api";
import {
  type Client,
  type Patch,
  type ResourceClient,
  errorMessage,
  isConnectionRefused,
  isNotFound,
} from "@kubewright/client";
import { type Clock, formatDuration } from "@kubewright/clock";
import { type FaultyCluster, selects } from "@kubewright/cluster";
import { isPodTerminal } from "@kubewright/controller";
import type { ApiRequest } from "@kubewright/transport";

import { Discovery } from "../discovery.js";
import { type FindUid, withOwnerUids } from "../owner-uids.js";
import type { Happening } from "./happening.js";
import type { HappeningKind, Happenings, RequestSelection, Target } from "./scenario-file.js";
import { durationOf } from "./scenario-times.js";

export interface HappeningPlayerOptions {
  readonly cluster: FaultyCluster;
  readonly clock: Clock;
  readonly tell: (told: HappeningNote) => void;
  /** Told when each begins, and when what lasts is over. */
  readonly onPhase?: (index: number, kind: string, phase: "begin" | "end") => void;
  /** Told of what could not be done, with its place in the file. */
  readonly onProblem: (message: string) => void;
  readonly signal: AbortSignal;
}

/** What is told of a happening. */
export interface HappeningNote {
  readonly at: string;
  /** When it is over, for what lasts. */
  readonly until?: string;
  /** Its name in the scenario file, e.g. `controllerDown`. */
  readonly kind: string;
  /** One line for people. */
  readonly message: string;
  readonly involved?: { readonly kind: string; readonly namespace: string; readonly name: string };
}

const DEFINITIONS: Readonly<Record<Target["kind"], ResourceDefinition>> = {
  CronJob: cronJobs,
  Job: jobs,
  Pod: pods,
  Node: nodes,
  Namespace: namespaces,
};

const RESOURCES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(DEFINITIONS).map(([kind, { resource }]) => [kind, resource]),
);

/** Those that may be about the very first requests. */
const FIRST: ReadonlySet<HappeningKind> = new Set<HappeningKind>([
  "clockSkew",
  "controllerCrashes",
  "paused",
  "requestFails",
  "staleCache",
  "staleList",
  "watchSilent",
]);

/** Between two tries to end what a user has begun. */
const UNREACHED_MS = 1_000;

/** What a snapshot calls the definitions of custom resources. */
const DEFINITIONS_KEY = `${customResourceDefinitions.group}/${customResourceDefinitions.resource}`;

/** What is to be done when a happening's time has come: what to say of it, and how it ends. */
interface Act {
  readonly message: string;
  readonly involved?: HappeningNote["involved"];
  /** Of what lasts by its nature, when that is not known from the file. */
  readonly begin?: () => Promise<unknown> | void;
  readonly end?: () => Promise<unknown> | void;
}

/** Makes the happenings of a scenario happen, each at its time; those of one time in the order of the file. */
export class HappeningPlayer {
  readonly #cluster: FaultyCluster;
  readonly #clock: Clock;
  readonly #startMs: number;
  readonly #tell: (told: HappeningNote) => void;
  readonly #onPhase: NonNullable<HappeningPlayerOptions["onPhase"]>;
  readonly #onProblem: (message: string) => void;
  readonly #signal: AbortSignal;
  /** A user, who has to reach the API server like everybody else. */
  readonly #user: Client;

  constructor({ cluster, clock, tell, onPhase, onProblem, signal }: HappeningPlayerOptions) {
    this.#cluster = cluster;
    this.#clock = clock;
    this.#startMs = clock.now();
    this.#tell = tell;
    this.#onPhase = onPhase ?? (() => {});
    this.#onProblem = onProblem;
    this.#signal = signal;
    this.#user = cluster.faults.client("user");
  }

  /** Begins what concerns the very first requests. Call it before there is any object, and {@link schedule} when there are. */
  begin(happenings: readonly Happening[]): void {
    for (const [index, happening] of happenings.entries())
      if (this.#precedes(happening)) void this.#start(happening, index);
  }

  /** All but what {@link begin} has begun. */
  schedule(happenings: readonly Happening[]): void {
    for (const [index, happening] of happenings.entries())
      if (!this.#precedes(happening))
        this.#clock.setTimer(happening.atMs - this.#clock.now(), () => void this.#start(happening, index));
  }

  #precedes({ kind, atMs }: Happening): boolean {
    return atMs <= this.#startMs && FIRST.has(kind);
  }

  async #start(happening: Happening, index: number): Promise<void> {
    if (this.#signal.aborted) return;
    const { kind, untilMs, overMs } = happening;
    this.#onPhase(index, kind, "begin");
    const act = this.#act(happening);
    this.#tell({
      at: iso(this.#clock.now()),
      ...(overMs === undefined ? {} : { until: iso(overMs) }),
      kind,
      message: act.message,
      ...(act.involved === undefined ? {} : { involved: act.involved }),
    });
    if (untilMs !== undefined && act.end !== undefined) {
      const { end } = act;
      this.#clock.setTimer(untilMs - this.#clock.now(), () => void this.#end(happening, index, end));
    }
    if (act.begin !== undefined) await this.#attempt(happening, act.begin);
  }

  async #end(happening: Happening, index: number, end: () => Promise<unknown> | void): Promise<void> {
    await this.#attempt(happening, () => this.#whenReached(end));
    if (!this.#signal.aborted) this.#onPhase(index, happening.kind, "end");
  }

  /** What was to last for a while is over: who cannot reach the API server to say so tries again until it is back. */
  async #whenReached(end: () => Promise<unknown> | void): Promise<void> {
    for (;;) {
      try {
        await end();
        return;
      } catch (error) {
        if (!isConnectionRefused(error)) throw error;
        await this.#clock.sleep(UNREACHED_MS, this.#signal);
      }
    }
  }

  /** What a user does may be refused; everything else goes on. */
  async #attempt({ kind, place }: Happening, action: () => Promise<unknown> | void): Promise<void> {
    if (this.#signal.aborted) return;
    try {
      await action();
    } catch (error) {
      if (this.#signal.aborted) return;
      const message = `${kind} failed: ${errorMessage(error)}`;
      this.#tell({ at: iso(this.#clock.now()), kind, message });
      this.#onProblem(`${place}: ${message}`);
    }
  }

  #act(happening: Happening): Act {
    const { faults } = this.#cluster;
    switch (happening.kind) {
      case "controllerDown": {
        const name = happening.value === "all" ? undefined : happening.value;
        return {
          message: `${name ?? "the controller manager"} is killed`,
          begin: () => faults.controllerDown(name),
          end: () => {
            faults.controllerUp(name);
          },
        };
      }
      case "controllerUp": {
        const name = happening.value === "all" ? undefined : happening.value;
        return { message: `${name ?? "the controller manager"} is started`, begin: () => faults.controllerUp(name) };
      }
      case "leaseLost": {
        const lost = faults.loseLease();
        if (lost === undefined) return { message: "nobody leads, so nobody loses the Lease" };
        return { message: `${lost.leader} leads, but cannot reach its Lease`, end: lost.end };
      }
      case "clockJump":
        return this.#clockJump(happening.value);
      case "staleCache": {
        const { kind, controller } = happening.value;
        const end = faults.network({ components: [controller], heldResources: [this.#resourceOf(kind)] });
        return { message: `${controller} hears nothing new of ${kind}s`, end };
      }
      case "apiServerDown": {
        const components = happening.value === "all" ? undefined : happening.value;
        const end = faults.network({ down: true, ...(components === undefined ? {} : { components }) });
        return {
          message: `the API server cannot be reached${components === undefined ? "" : ` by ${components.join(", ")}`}`,
          end,
        };
      }
      case "apiServerSlow": {
        const { by, components } = happening.value;
        const end = faults.network({
          delayMs: durationOf(by),
          ...(components === undefined ? {} : { components }),
        });
        return {
          message: `requests${components === undefined ? "" : ` of ${components.join(", ")}`} take ${by} longer`,
          end,
        };
      }
      case "nodeLost": {
        const name = happening.value;
        return {
          message: `node ${name} is cut off`,
          involved: { kind: "Node", namespace: "", name },
          begin: () => faults.nodeLost(name),
          end: () => faults.nodeBack(name, this.#signal),
        };
      }
      case "nodeDrained":
        return this.#nodeDrained(happening.value);
      case "nodeTainted":
        return this.#nodeTainted(happening.value);
      case "podEvicted": {
        const chosen = this.#podsToEvict(happening.value);
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
        const { type = "merge", with: body, subresource } = happening.value;
        const patch = { type, body } as Patch;
        const options = { fieldManager: "user", ...(subresource === undefined ? {} : { subresource }) };
        const verb = subresource === undefined ? "patches" : `patches the ${subresource} of`;
        const act = this.#userAct(verb, happening.value, (name, namespace, client) =>
          client.patch(name, patch, { namespace, ...options }),
        );
        return { ...act, message: `${act.message}: ${clip(JSON.stringify(body))}` };
      }
      case "suspend":
        return {
          ...this.#suspension("suspends", happening.value, true),
          end: this.#suspension("resumes", happening.value, false).begin!,
        };
      case "resume":
        return this.#suspension("resumes", happening.value, false);
      case "delete": {
        const { propagation: propagationPolicy = "Background", gracePeriodSeconds } = happening.value;
        const options = {
          propagationPolicy,
          ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
        } as const;
        return this.#userAct("deletes", happening.value, (name, namespace, client) =>
          client.delete(name, { namespace, ...options }),
        );
      }
      case "apply":
        return this.#apply(happening);
      case "requestFails":
        return this.#requestFails(happening.value);
      case "controllerCrashes":
        return this.#controllerCrashes(happening.value);
      case "paused":
        return { message: `${happening.value} stands still`, end: faults.standStill(happening.value) };
      case "clockSkew": {
        const { controllerManager, by } = happening.value;
        const byMs = jumpOf(by);
        return {
          message: `the clock of ${controllerManager} is set ${direction(byMs)}`,
          begin: () => faults.jumpClockOf(controllerManager, byMs),
          end: () => faults.jumpClockOf(controllerManager, -byMs),
        };
      }
      case "watchCut": {
        const { controller, compacted = false } = happening.value;
        const which = this.#watchesOf(happening.value);
        return {
          message: `${watchesText(happening.value)} end${compacted ? ", and what they missed is forgotten" : ""}`,
          begin: () => {
            if (compacted) this.#cluster.apiServer.compact();
            this.#cluster.network.cutWatches({
              ...which,
              ...(controller === undefined ? {} : { components: [controller] }),
            });
          },
        };
      }
      case "watchSilent": {
        const { controller } = happening.value;
        const end = faults.silenceWatches({
          ...this.#watchesOf(happening.value),
          ...(controller === undefined ? {} : { components: [controller] }),
        });
        return { message: `${watchesText(happening.value)} fall silent`, end };
      }
      case "staleList": {
        const { controller, kinds, by } = happening.value;
        const end = faults.staleLists({
          byMs: durationOf(by),
          ...(controller === undefined ? {} : { components: [controller] }),
          ...(kinds === undefined ? {} : { resources: kinds.map((kind) => this.#resourceOf(kind)) }),
        });
        const what = kinds === undefined ? "lists" : `lists of ${kinds.join(" and ")}s`;
        return { message: `${controller ?? "everybody"} gets ${what} as they were ${by} ago`, end };
      }
      case "apiServerRestart":
        return {
          message: "the API server is started anew",
          begin: () => faults.restartApiServer(this.#cluster.apiServer),
        };
      default:
        return happening satisfies never;
    }
  }

  #requestFails(value: Happenings["requestFails"]): Act {
    const { with: answer = 500, effect = "none", nth = 1, times = Infinity, whileAtLeast, ...selection } = value;
    const end = this.#cluster.faults.failRequests({
      ...selection,
      with: answer,
      takeEffect: effect === "kept",
      nth,
      times,
      ...(whileAtLeast === undefined ? {} : { whileAtLeast }),
    });
    const what = effect === "kept" ? "are done, but answered with" : "fail with";
    return { message: `${requestsText(selection)} ${what} ${answer}${countText(nth, times)}`, end };
  }

  #controllerCrashes(value: Happenings["controllerCrashes"]): Act {
    const { controller, nth = 1, when = "after", restartAfter = "1s", ...selection } = value;
    const point = { verbs: ["write"], ...selection, nth, when };
    const end = this.#cluster.faults.crashAt(
      { ...point, controller: controller === "all" ? undefined : controller },
      durationOf(restartAfter),
    );
    const who = controller === "all" ? "a controller manager" : controller;
    return { message: `${who} dies ${when} request ${nth} of ${requestsText(point)}`, end };
  }

  /** Open watches of these kinds. */
  #watchesOf({ kinds }: { readonly kinds?: readonly string[] }): { requests?: (request: ApiRequest) => boolean } {
    if (kinds === undefined) return {};
    const resources = kinds.map((kind) => this.#resourceOf(kind));
    return { requests: (request) => selects({ resources }, request) };
  }

  /** The plural of a kind: of one that is not built in, what its definition says. */
  #resourceOf(kind: string): string {
    const known = RESOURCES[kind];
    if (known !== undefined) return known;
    const { objects } = this.#cluster.apiServer.snapshot();
    const definitions = (objects[DEFINITIONS_KEY] ?? []) as readonly CustomResourceDefinition[];
    return definitions.find(({ spec }) => spec?.names.kind === kind)?.spec?.names.plural ?? `${kind.toLowerCase()}s`;
  }

  #clockJump(jump: string): Act {
    const byMs = jumpOf(jump);
    const { faults } = this.#cluster;
    return {
      message: `the controllers' clock is set ${direction(byMs)}`,
      begin: () => faults.jumpControllerClock(byMs),
    };
  }

  #nodeDrained(name: string): Act {
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

  #nodeTainted({ node: name, key, value, effect }: Happenings["nodeTainted"]): Act {
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

  #podsToEvict({ namespace = "default", name, labels, job, count = 1 }: Happenings["podEvicted"]): DeepReadonly<Pod>[] {
    const matchLabels = { ...labels, ...(job === undefined ? {} : { "batch.kubernetes.io/job-name": job }) };
    const matches = labelSelectorMatcher({ matchLabels });
    return this.#pods()
      .filter(({ metadata }) => metadata.namespace === namespace && (name === undefined || metadata.name === name))
      .filter(({ metadata }) => matches(metadata.labels))
      .slice(0, count);
  }

  /** Pods that have not ended and are not being deleted, the oldest first, by name among those of one second. */
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

  #suspension(verb: string, target: Target, suspend: boolean): Act {
    return this.#userAct(verb, target, (name, namespace, client) =>
      client.patch(name, { type: "merge", body: { spec: { suspend } } }, { namespace, fieldManager: "user" }),
    );
  }

  #userAct(
    verb: string,
    { kind, namespace: named, name, labels }: Target,
    act: (name: string, namespace: string | undefined, client: ResourceClient<KubernetesObject>) => Promise<unknown>,
  ): Act {
    const definition = DEFINITIONS[kind];
    const namespace = definition.namespaced ? (named ?? "default") : undefined;
    const client = this.#user.resource(definition);
    const place = namespace === undefined ? "" : `${namespace}/`;
    if (name !== undefined) {
      return {
        message: `a user ${verb} ${kind} ${place}${name}`,
        involved: { kind, namespace: namespace ?? "", name },
        begin: () => act(name, namespace, client),
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
        for (const { metadata } of chosen) await act(metadata.name ?? "", namespace, client);
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

  #apply({ objects }: Happening): Act {
    const names = objects.map(
      ({ object }) => `${object.kind} ${object.metadata.namespace ?? "default"}/${object.metadata.name}`,
    );
    return {
      message: `a user applies ${names.join(", ")}`,
      begin: async () => {
        const discovery = new Discovery(this.#user);
        for (const { object: written } of objects) {
          const object = await withOwnerUids(written, (owner) => this.#uidOf(owner, discovery));
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

/** A change of a clock that the schema allows, in milliseconds. */
function jumpOf(jump: string): number {
  return (jump.startsWith("-") ? -1 : 1) * durationOf(jump.slice(1));
}

function direction(byMs: number): string {
  return `${byMs < 0 ? "back" : "forward"} by ${formatDuration(Math.abs(byMs))}`;
}

/** `write pods of job-controller` */
function requestsText({ components, verbs, resources, namespace, name }: RequestSelection): string {
  const what = `${verbs?.join(" and ") ?? "requests of"} ${resources?.join(" and ") ?? "everything"}`;
  const where =
    name === undefined ? (namespace === undefined ? "" : ` in ${namespace}`) : ` ${namespace ?? ""}/${name}`;
  return `${what}${where}${components === undefined ? "" : ` by ${components.join(" and ")}`}`;
}

function countText(nth: number, times: number): string {
  if (times === Infinity) return nth === 1 ? "" : `, from the ${nth}. on`;
  return times === 1 ? `, the ${nth}. of them` : `, the ${nth}. to the ${nth + times - 1}. of them`;
}

function watchesText({
  controller,
  kinds,
}: {
  readonly controller?: string;
  readonly kinds?: readonly string[];
}): string {
  const what = kinds === undefined ? "watches" : `watches of ${kinds.join(" and ")}s`;
  return controller === undefined ? what : `${what} by ${controller}`;
}

/** What of a patch is told. */
const LONGEST_PATCH = 100;

function clip(text: string): string {
  return text.length <= LONGEST_PATCH ? text : `${text.slice(0, LONGEST_PATCH - 1)}…`;
}

function iso(timeMs: number): string {
  return new Date(timeMs).toISOString();
}
