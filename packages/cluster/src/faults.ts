import type { ApiServer } from "@kubewright/apiserver";
import { Client } from "@kubewright/client";
import type { Clock } from "@kubewright/clock";

import type { FakeKubelet } from "./kubelet/fake-kubelet.js";
import type { ManagerProcess } from "./manager-process.js";
import type { Network, NetworkFault } from "./network.js";
import { type CrashPoint, type FailingRequests, crashPoint, failingRequests } from "./request-faults.js";
import type { ShardedProcess } from "./sharded-process.js";
import type { UnreachableNodes } from "./unreachable-nodes.js";
import { type StaleLists, staleLists } from "./stale-lists.js";

interface FaultsOptions {
  readonly network: Network;
  /** The controller managers. */
  readonly managers: readonly ManagerProcess[];
  /** The sharded ones of `managers`. */
  readonly shardedProcesses: readonly ShardedProcess[];
  /** Controllers that are not part of Kubernetes. */
  readonly others: readonly ManagerProcess[];
  /** Names of all controllers. */
  readonly controllers: readonly string[];
  readonly unreachableNodes: UnreachableNodes;
  readonly kubelet: FakeKubelet;
  readonly clock: Clock;
  /** Returns a fault that matches the requests with which a controller manager renews its Lease. */
  readonly leaseRequests: (manager: string) => NetworkFault;
  readonly versionBefore: ((agoMs: number) => number) | undefined;
}

/** The interval at which a kubelet posts its status. */
const RETRY_MS = 10_000;

/** Injects faults into a cluster. */
export class Faults {
  readonly #options: FaultsOptions;

  constructor(options: FaultsOptions) {
    this.#options = options;
  }

  /** Returns a client that network faults affect as a component of this name. */
  client(component: string): Client {
    const { network, clock } = this.#options;
    return new Client({ transport: network.link(component), clock, userAgent: component });
  }

  /**
   * Kills a controller in every process, or a controller manager. Without a name it kills all controller managers. A
   * killed process has no further effect.
   *
   * @throws Error for an unknown name.
   */
  controllerDown(name?: string): void {
    this.#setRunning(false, name);
  }

  /**
   * Starts a killed process without its earlier state. Without a name it also starts every controller that was killed
   * individually. @throws Error for an unknown name.
   */
  controllerUp(name?: string): void {
    this.#setRunning(true, name);
  }

  /**
   * Shuts down a sharded controller manager, as SIGTERM does: it finishes its work in flight and releases its buckets.
   * {@link controllerUp} starts it again.
   *
   * @throws Error for an unknown name, and for a manager that is not sharded.
   */
  shutDown(process: string): void {
    const { name } = this.#process(process);
    const shardedProcess = this.#options.shardedProcesses.find((each) => each.name === name);
    if (shardedProcess === undefined) throw new Error(`${name} is not sharded: it has no buckets to release`);
    shardedProcess.shutDown();
  }

  /**
   * Starts a network fault between components and the API server. Components are `scheduler`, `kubelet`, and the
   * controllers by name. Returns the function that ends it.
   */
  network(fault: NetworkFault): () => void {
    return this.#options.network.begin(fault);
  }

  /** Makes requests fail until the returned function is called. */
  failRequests(failing: FailingRequests): () => void {
    const { network, clock } = this.#options;
    return network.begin(failingRequests(failing, clock));
  }

  /**
   * Kills and restarts a controller before or after the n-th matching request takes effect. Without a name it kills the
   * controller manager that sends the request. Returns a function that cancels the fault before it occurs.
   *
   * @throws Error for an unknown name.
   */
  crashAt(
    { controller, ...point }: Omit<CrashPoint, "components"> & { readonly controller?: string | undefined },
    restartAfterMs: number,
  ): () => void {
    const { network, managers, controllers, others, clock } = this.#options;
    const candidates = this.#processesWith(controller);
    const components =
      controller === undefined
        ? controllers.filter((name) => others.every((other) => other.name !== name))
        : [controller];
    const end = network.begin(
      crashPoint({ ...point, components }, ({ process }) => {
        end();
        const replica = candidates.find(({ name }) => name === process) ?? managers[0];
        replica?.setRunning(false, controller);
        clock.setTimer(restartAfterMs, () => replica?.setRunning(true, controller));
      }),
    );
    return end;
  }

  /**
   * Pauses a controller manager, or a controller that is a separate process. Until the returned function is called, its
   * timers, requests, responses and watch events wait while time passes.
   *
   * @throws Error for an unknown name.
   */
  pause(process: string): () => void {
    const { clock } = this.#process(process);
    this.#options.network.disturb();
    clock.isPaused = true;
    return () => {
      clock.isPaused = false;
      this.#options.network.recheckWatches();
    };
  }

  /**
   * Makes the open watches silent: they deliver neither events nor their end. The returned function ends the fault and
   * closes those that are still open.
   */
  silenceWatches(which: Pick<NetworkFault, "components" | "requests">): () => void {
    return this.#options.network.silenceWatches(which);
  }

  /**
   * Answers lists from the state of an earlier time. @throws Error without an embedded API server, because its versions
   * are unknown.
   */
  staleLists(options: StaleLists): () => void {
    const { network, versionBefore, clock } = this.#options;
    if (versionBefore === undefined) throw new Error("only lists of an embedded API server can be stale");
    return network.begin(staleLists(options, versionBefore, clock));
  }

  /** Restarts the API server: stored objects stay, watches end, and earlier versions are no longer served. */
  restartApiServer(apiServer: Pick<ApiServer, "compact">): void {
    apiServer.compact();
    this.#options.network.cutWatches();
  }

  /**
   * Moves the wall clock of the controllers' machines. The clocks of the API server, the nodes and the simulation stay
   * right.
   */
  jumpControllerClock(byMs: number): void {
    this.#options.network.disturb();
    for (const { clock } of [...this.#options.managers, ...this.#options.others]) clock.jump(byMs);
  }

  /** Moves the wall clock of one process. @throws Error for an unknown name. */
  jumpClockOf(process: string, byMs: number): void {
    const { clock } = this.#process(process);
    this.#options.network.disturb();
    clock.jump(byMs);
  }

  /**
   * Blocks the Lease requests of a controller manager until the returned function is called. A leader cannot renew its
   * Lease, exits, and another one takes over. A sharded manager stops writing until the others regard it as expired.
   * Returns `undefined` when no manager leads.
   *
   * @param name - Default: the leader.
   * @throws Error for an unknown name.
   */
  loseLease(name?: string): { readonly leader: string; readonly end: () => void } | undefined {
    const { managers, network, leaseRequests } = this.#options;
    const leader = name === undefined ? managers.find(({ leads }) => leads)?.name : this.#process(name).name;
    if (leader === undefined) return undefined;
    return { leader, end: network.begin({ ...leaseRequests(leader), down: true }) };
  }

  /** Disconnects a node: its containers keep running, and its kubelet reports nothing. */
  nodeLost(name: string): void {
    this.#options.kubelet.cutOff(name);
    this.#options.unreachableNodes.set(name, true);
  }

  /**
   * Ends {@link nodeLost}. Resolves once the kubelet has reported. A kubelet that cannot reach the API server retries.
   */
  async nodeBack(name: string, signal: AbortSignal): Promise<void> {
    const { unreachableNodes, kubelet, clock } = this.#options;
    while (!signal.aborted) {
      unreachableNodes.set(name, false);
      try {
        return await kubelet.reconnect(name, signal);
      } catch {
        this.nodeLost(name);
        await clock.sleep(RETRY_MS, signal).catch(() => {});
      }
    }
  }

  #setRunning(up: boolean, name: string | undefined): void {
    const manager = this.#options.managers.find((each) => each.name === name);
    if (manager !== undefined) manager.setRunning(up);
    else for (const replica of this.#processesWith(name)) replica.setRunning(up, name);
  }

  /** Returns the processes that have a controller, or without a name the controller managers. */
  #processesWith(controller: string | undefined): readonly ManagerProcess[] {
    const { managers, others, controllers } = this.#options;
    if (controller === undefined) return managers;
    if (!controllers.includes(controller))
      throw new Error(`${JSON.stringify(controller)} is not a controller; there are ${controllers.join(", ")}`);
    return [...managers, ...others].filter((replica) => replica.has(controller));
  }

  #process(name: string): ManagerProcess {
    const all = [...this.#options.managers, ...this.#options.others];
    const found = all.find((replica) => replica.name === name);
    if (found !== undefined) return found;
    const known = all.map((replica) => replica.name).join(", ");
    throw new Error(`${JSON.stringify(name)} is not a controller manager of the cluster, which has ${known}`);
  }
}
