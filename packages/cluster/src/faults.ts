import type { ApiServer } from "@kubewright/apiserver";
import { Client } from "@kubewright/client";
import type { Clock } from "@kubewright/clock";
import type { FakeKubelet } from "@kubewright/fake-kubelet";

import { checkNames } from "./controllers.js";
import type { ManagerProcess } from "./manager-process.js";
import type { Network, NetworkFault } from "./network.js";
import { type CrashPoint, type FailingRequests, crashPoint, failingRequests } from "./request-faults.js";
import type { ShardedManager } from "./sharded-manager.js";
import type { UnreachableNodes } from "./unreachable-nodes.js";
import { type StaleLists, staleLists } from "./stale-lists.js";

interface FaultsOptions {
  readonly network: Network;
  /** The controller managers. */
  readonly managers: readonly ManagerProcess[];
  /** Those of them that share work. */
  readonly shardedManagers: readonly ShardedManager[];
  /** Controllers that are no part of Kubernetes. */
  readonly others: readonly ManagerProcess[];
  /** Names of all controllers. */
  readonly controllers: readonly string[];
  readonly unreachableNodes: UnreachableNodes;
  readonly kubelet: FakeKubelet;
  readonly clock: Clock;
  /** Those by which a controller manager renews its Lease. */
  readonly leaseRequests: (manager: string) => NetworkFault;
  readonly versionBefore: ((agoMs: number) => number) | undefined;
}

/** As often as a kubelet posts its status. */
const RETRY_MS = 10_000;

/** Makes things go wrong in a cluster. */
export class Faults {
  readonly #options: FaultsOptions;

  constructor(options: FaultsOptions) {
    this.#options = options;
  }

  /** A client whom network faults concern like any component of this name. */
  client(component: string): Client {
    const { network, clock } = this.#options;
    return new Client({ transport: network.link(component), clock, userAgent: component });
  }

  /**
   * Kills a controller in every process, or a controller manager; without a name the controller managers. Nothing it does has any
   * effect any more.
   *
   * @throws Error for an unknown name.
   */
  controllerDown(name?: string): void {
    this.#setRunning(false, name);
  }

  /** Starts it, with nothing remembered. Without a name also every controller that was killed by itself. @throws Error for an unknown name. */
  controllerUp(name?: string): void {
    this.#setRunning(true, name);
  }

  /**
   * Tells a controller manager that shares work to end, as SIGTERM does: it finishes what it has begun, and gives up what it has.
   * {@link controllerUp} starts it again.
   *
   * @throws Error for an unknown name, and for one that does not share work.
   */
  shutDown(process: string): void {
    const { name } = this.#process(process);
    const shardedManager = this.#options.shardedManagers.find((each) => each.name === name);
    if (shardedManager === undefined) throw new Error(`${name} is not sharded: it has no buckets to release`);
    shardedManager.shutDown();
  }

  /** Brings about what is wrong between components and the API server. Components are `scheduler`, `kubelet`, and the controllers by name. */
  network(fault: NetworkFault): () => void {
    return this.#options.network.begin(fault);
  }

  /** Lets requests fail, until the answered function is called. */
  failRequests(failing: FailingRequests): () => void {
    const { network, clock } = this.#options;
    return network.begin(failingRequests(failing, clock));
  }

  /**
   * Kills a controller, or without a name the controller manager that sends the request, right before or after its n-th such
   * request takes effect, and starts it again. Answers how to call it off, as long as that has not happened.
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
   * Lets a controller manager, or a controller that is a process of its own, stand still: no timer, request, answer or event
   * of it goes on until the answered function is called, though time does.
   *
   * @throws Error for an unknown name.
   */
  pause(process: string): () => void {
    const { clock } = this.#process(process);
    clock.isPaused = true;
    return () => {
      clock.isPaused = false;
      this.#options.network.recheckWatches();
    };
  }

  /**
   * Lets open watches tell nothing more, not even that they end, until the answered function is called, which breaks those that
   * are open still.
   */
  silenceWatches(which: Pick<NetworkFault, "components" | "requests">): () => void {
    return this.#options.network.silenceWatches(which);
  }

  /** Answers lists from what was stored so long ago. @throws Error where nobody knows what that was. */
  staleLists(options: StaleLists): () => void {
    const { network, versionBefore, clock } = this.#options;
    if (versionBefore === undefined) throw new Error("only lists of an embedded API server can be stale");
    return network.begin(staleLists(options, versionBefore, clock));
  }

  /** Starts the API server anew: what is stored stays, watches end, and no version before this is known any more. */
  restartApiServer(apiServer: Pick<ApiServer, "compact">): void {
    apiServer.compact();
    this.#options.network.cutWatches();
  }

  /** Sets the wall clock of the controllers' machines; the API server's, the nodes' and the simulation's stay right. */
  jumpControllerClock(byMs: number): void {
    for (const { clock } of [...this.#options.managers, ...this.#options.others]) clock.jump(byMs);
  }

  /** Sets the wall clock of one of them. @throws Error for an unknown name. */
  jumpClockOf(process: string, byMs: number): void {
    this.#process(process).clock.jump(byMs);
  }

  /**
   * Keeps a controller manager from its Lease, until the answered function is called: it cannot renew, exits, and another takes
   * over; one that shares work stops to write, until others take it for dead. Answers with nothing when nobody leads.
   *
   * @param name - Default: whoever leads.
   * @throws Error for an unknown name.
   */
  loseLease(name?: string): { readonly leader: string; readonly end: () => void } | undefined {
    const { managers, network, leaseRequests } = this.#options;
    const leader = name === undefined ? managers.find(({ leads }) => leads)?.name : this.#process(name).name;
    if (leader === undefined) return undefined;
    return { leader, end: network.begin({ ...leaseRequests(leader), down: true }) };
  }

  /** Cuts a node off: its containers run on, unheard of. */
  nodeLost(name: string): void {
    this.#options.kubelet.cutOff(name);
    this.#options.unreachableNodes.set(name, true);
  }

  /** Ends {@link nodeLost}. Resolves once the node is heard of: one that cannot reach the API server tries again. */
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

  /** Those that have a controller; without a name the controller managers. */
  #processesWith(controller: string | undefined): readonly ManagerProcess[] {
    const { managers, others, controllers } = this.#options;
    if (controller === undefined) return managers;
    checkNames([controller], controllers);
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
