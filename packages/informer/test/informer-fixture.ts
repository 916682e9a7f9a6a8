import { type DeepReadonly, type Pod, pods } from "@kubewright/api";
import { Client } from "@kubewright/client";
import { type Random, SimulatedClock } from "@kubewright/clock";

import type { EventHandler } from "../src/event-handler.js";
import type { InformerError } from "../src/informer-error.js";
import { SharedInformer, type SharedInformerOptions } from "../src/shared-informer.js";
import { type DeletedFinalStateUnknown, deletedObject, isDeletedFinalStateUnknown } from "../src/tombstone.js";
import { ScriptedServer } from "./scripted-server.js";

/** A random source that always returns 0. */
export const leastRandom: Random = { next: () => 0, uint32: () => 0, fork: () => leastRandom };

const started: { readonly stop: () => Promise<void>; readonly clock: SimulatedClock }[] = [];

/** For `afterEach`. @throws Error when an informer has left a timer behind. */
export async function stopInformers(): Promise<void> {
  for (const { stop, clock } of started.splice(0)) {
    await stop();
    if (clock.nextTimerInMs !== undefined)
      throw new Error(`a stopped informer left a timer behind, due in ${clock.nextTimerInMs} ms`);
    if (clock.keepAliveCount > 0) throw new Error("a stopped informer keeps the process alive");
  }
}

/**
 * Starts a pod informer with a scripted server and a simulated clock. It runs until `stop`, or {@link stopInformers}.
 */
export function startInformer<Index extends string = never>(
  options: Partial<SharedInformerOptions<Pod, Index>> = {},
  beforeStart: (informer: SharedInformer<Pod, Index>) => void = () => {},
) {
  const fixture = newInformer(options);
  beforeStart(fixture.informer);
  const controller = new AbortController();
  const stopped = fixture.informer.run(controller.signal);
  const stop = (): Promise<void> => {
    controller.abort(new Error("test is over"));
    return stopped;
  };
  started.push({ stop, clock: fixture.clock });
  return { ...fixture, stop, signal: controller.signal };
}

export function newInformer<Index extends string = never>(options: Partial<SharedInformerOptions<Pod, Index>> = {}) {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const server = new ScriptedServer();
  const errors: InformerError[] = [];
  const client = new Client({ transport: server.transport, clock }).resource(pods);
  const informer = new SharedInformer<Pod, Index>({
    client,
    clock,
    random: leastRandom,
    watchList: false,
    onError: (error) => errors.push(error),
    ...options,
  });
  const log: string[] = [];
  informer.addEventHandler(loggingHandler(log));
  return { clock, server, errors, informer, log };
}

/** Logs each call as one line, e.g. `update a@1 a@2`, `tombstone b@1`, `add c@3 initial`. */
export function loggingHandler(log: string[]): EventHandler<Pod> {
  return {
    onAdd: (object, isInInitialList) => log.push(`add ${show(object)}${isInInitialList ? " initial" : ""}`),
    onUpdate: (oldObject, newObject) => log.push(`update ${show(oldObject)} ${show(newObject)}`),
    onDelete: (object: DeepReadonly<Pod> | DeletedFinalStateUnknown<Pod>) =>
      log.push(`${isDeletedFinalStateUnknown(object) ? "tombstone" : "delete"} ${show(deletedObject(object)!)}`),
  };
}

export function show(object: DeepReadonly<Pod>): string {
  return `${object.metadata.name}@${object.metadata.resourceVersion}`;
}
