import { type CustomResourceDefinition, customResourceDefinitions } from "@kubewright/api";
import { formatDuration } from "@kubewright/clock";
import { type FaultyCluster, selects } from "@kubewright/cluster";
import type { ApiRequest } from "@kubewright/transport";

import type { ScenarioAction } from "./scenario-action.js";
import type { ScenarioEvent } from "./scenario-event.js";
import type { ScenarioEventMap, RequestSelection } from "./scenario-file.js";
import { durationOf } from "./scenario-times.js";
import { DEFINITIONS } from "./target-kinds.js";
import type { UserScenarioEvent } from "./user-actions.js";

const RESOURCES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(DEFINITIONS).map(([kind, { resource }]) => [kind, resource]),
);

/** Key of CustomResourceDefinitions in a snapshot. */
const DEFINITIONS_KEY = `${customResourceDefinitions.group}/${customResourceDefinitions.resource}`;

/** The faults of a scenario. */
export class FaultActions {
  readonly #cluster: FaultyCluster;
  readonly #signal: AbortSignal;

  /** @param signal - Aborted at the end of the run. */
  constructor(cluster: FaultyCluster, signal: AbortSignal) {
    this.#cluster = cluster;
    this.#signal = signal;
  }

  actionOf(scenarioEvent: Exclude<ScenarioEvent, UserScenarioEvent>): ScenarioAction {
    const { faults } = this.#cluster;
    switch (scenarioEvent.kind) {
      case "controllerDown": {
        const name = scenarioEvent.value === "all" ? undefined : scenarioEvent.value;
        return {
          message: `${name ?? "the controller manager"} is killed`,
          begin: () => faults.controllerDown(name),
          end: () => {
            faults.controllerUp(name);
          },
        };
      }
      case "controllerUp": {
        const name = scenarioEvent.value === "all" ? undefined : scenarioEvent.value;
        return { message: `${name ?? "the controller manager"} is started`, begin: () => faults.controllerUp(name) };
      }
      case "leaseLost": {
        const lost = faults.loseLease(scenarioEvent.value === true ? undefined : scenarioEvent.value);
        if (lost === undefined) return { message: "no controller manager leads, so no Lease is lost" };
        const who = scenarioEvent.value === true ? `${lost.leader} leads, but` : lost.leader;
        return { message: `${who} cannot reach its Lease`, end: lost.end };
      }
      case "clockJump":
        return this.#clockJump(scenarioEvent.value);
      case "staleCache": {
        const { kind, controller } = scenarioEvent.value;
        const end = faults.network({ components: [controller], heldBackResources: [this.#resourceOf(kind)] });
        return { message: `${controller} hears nothing new of ${kind}s`, end };
      }
      case "apiServerDown": {
        const components = scenarioEvent.value === "all" ? undefined : scenarioEvent.value;
        const end = faults.network({ down: true, ...(components === undefined ? {} : { components }) });
        return {
          message: `the API server cannot be reached${components === undefined ? "" : ` by ${components.join(", ")}`}`,
          end,
        };
      }
      case "apiServerSlow": {
        const { by, components, controllerManager } = scenarioEvent.value;
        const end = faults.network({
          delayMs: durationOf(by),
          ...(components === undefined ? {} : { components }),
          ...(controllerManager === undefined ? {} : { processes: [controllerManager] }),
        });
        const whose = [components?.join(", "), controllerManager].filter((who) => who !== undefined);
        return {
          message: `requests${whose.map((who) => ` of ${who}`).join("")} take ${by} longer`,
          end,
        };
      }
      case "nodeLost": {
        const name = scenarioEvent.value;
        return {
          message: `node ${name} is cut off`,
          involved: { kind: "Node", namespace: "", name },
          begin: () => faults.nodeLost(name),
          end: () => faults.nodeBack(name, this.#signal),
        };
      }
      case "requestFails":
        return this.#requestFails(scenarioEvent.value);
      case "controllerCrashes":
        return this.#controllerCrashes(scenarioEvent.value);
      case "shutdown": {
        const name = scenarioEvent.value;
        return {
          message: `${name} receives SIGTERM`,
          begin: () => faults.shutDown(name),
          end: () => faults.controllerUp(name),
        };
      }
      case "paused":
        return { message: `${scenarioEvent.value} is paused`, end: faults.pause(scenarioEvent.value) };
      case "clockSkew": {
        const { controllerManager, by } = scenarioEvent.value;
        const byMs = jumpOf(by);
        return {
          message: `the clock of ${controllerManager} is set ${direction(byMs)}`,
          begin: () => faults.jumpClockOf(controllerManager, byMs),
          end: () => faults.jumpClockOf(controllerManager, -byMs),
        };
      }
      case "watchCut": {
        const { controller, compacted = false } = scenarioEvent.value;
        const which = this.#watchesOf(scenarioEvent.value);
        return {
          message: `${watchesText(scenarioEvent.value)} end${compacted ? ", and what they missed is forgotten" : ""}`,
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
        const { controller } = scenarioEvent.value;
        const end = faults.silenceWatches({
          ...this.#watchesOf(scenarioEvent.value),
          ...(controller === undefined ? {} : { components: [controller] }),
        });
        return { message: `${watchesText(scenarioEvent.value)} fall silent`, end };
      }
      case "staleList": {
        const { controller, kinds, by } = scenarioEvent.value;
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
          message: "the API server restarts",
          begin: () => faults.restartApiServer(this.#cluster.apiServer),
        };
      default:
        return scenarioEvent satisfies never;
    }
  }

  #requestFails(value: ScenarioEventMap["requestFails"]): ScenarioAction {
    const { with: answer = 500, effect = "none", nth = 1, times = Infinity, whileAtLeast, ...selection } = value;
    const { controllerManager, ...requests } = selection;
    const end = this.#cluster.faults.failRequests({
      ...requests,
      ...(controllerManager === undefined ? {} : { processes: [controllerManager] }),
      with: answer,
      takeEffect: effect === "kept",
      nth,
      times,
      ...(whileAtLeast === undefined ? {} : { whileAtLeast }),
    });
    const what = effect === "kept" ? "are done, but answered with" : "fail with";
    return { message: `${requestsText(selection)} ${what} ${answer}${countText(nth, times)}`, end };
  }

  #controllerCrashes(value: ScenarioEventMap["controllerCrashes"]): ScenarioAction {
    const { controller, nth = 1, when = "after", restartAfter = "1s", ...selection } = value;
    const point = { verbs: ["write"], ...selection, nth, when };
    const end = this.#cluster.faults.crashAt(
      { ...point, controller: controller === "all" ? undefined : controller },
      durationOf(restartAfter),
    );
    const who = controller === "all" ? "a controller manager" : controller;
    return { message: `${who} dies ${when} request ${nth} of ${requestsText(point)}`, end };
  }

  /** Returns a selection of the open watches of these kinds. */
  #watchesOf({ kinds }: { readonly kinds?: readonly string[] }): { requests?: (request: ApiRequest) => boolean } {
    if (kinds === undefined) return {};
    const resources = kinds.map((kind) => this.#resourceOf(kind));
    return { requests: (request) => selects({ resources }, request) };
  }

  /** Returns the plural of a kind: for a custom kind, the one in its CustomResourceDefinition. */
  #resourceOf(kind: string): string {
    const known = RESOURCES[kind];
    if (known !== undefined) return known;
    const { objects } = this.#cluster.apiServer.snapshot();
    const definitions = (objects[DEFINITIONS_KEY] ?? []) as readonly CustomResourceDefinition[];
    return definitions.find(({ spec }) => spec?.names.kind === kind)?.spec?.names.plural ?? `${kind.toLowerCase()}s`;
  }

  #clockJump(jump: string): ScenarioAction {
    const byMs = jumpOf(jump);
    const { faults } = this.#cluster;
    return {
      message: `the controllers' clock is set ${direction(byMs)}`,
      begin: () => faults.jumpControllerClock(byMs),
    };
  }
}

/** Converts a clock change that the schema permits to milliseconds. */
function jumpOf(jump: string): number {
  return (jump.startsWith("-") ? -1 : 1) * durationOf(jump.slice(1));
}

function direction(byMs: number): string {
  return `${byMs < 0 ? "back" : "forward"} by ${formatDuration(Math.abs(byMs))}`;
}

/** Describes a selection of requests: `write pods of job-controller`. */
function requestsText({ components, controllerManager, verbs, resources, namespace, name }: RequestSelection): string {
  const what = `${verbs?.join(" and ") ?? "requests of"} ${resources?.join(" and ") ?? "everything"}`;
  const where =
    name === undefined ? (namespace === undefined ? "" : ` in ${namespace}`) : ` ${namespace ?? ""}/${name}`;
  const whose = [components?.join(" and "), controllerManager].filter((who) => who !== undefined);
  return `${what}${where}${whose.length === 0 ? "" : ` by ${whose.join(" of ")}`}`;
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
