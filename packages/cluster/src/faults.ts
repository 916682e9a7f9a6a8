import { Client } from "@kubewright/client";
import type { Clock } from "@kubewright/clock";
import type { FakeKubelet } from "@kubewright/fake-kubelet";

import type { ControllerReplica } from "./controller-replica.js";
import type { FaultyControllerName } from "./components.js";
import { checkedNames, controllerNames } from "./controllers.js";
import type { Network, NetworkFault } from "./network.js";
import type { SilentNodes } from "./silent-nodes.js";
import type { SkewedClock } from "./skewed-clock.js";

interface Parts {
  readonly network: Network;
  readonly replicas: readonly ControllerReplica[];
  readonly controllerClock: SkewedClock;
  readonly silentNodes: SilentNodes;
  readonly kubelet: FakeKubelet;
  readonly clock: Clock;
  readonly electionOf: (replica: string) => string;
}

/** As often as a kubelet posts its status. */
const RETRY_MS = 10_000;

/** Makes things go wrong in a cluster. */
export class Faults {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** A client whom network faults concern like any component of this name. */
  client(component: string): Client {
    const { network, clock } = this.#parts;
    return new Client({ transport: network.link(component), clock, userAgent: component });
  }

  /** Kills a controller in every controller manager; without a name the controller managers. Nothing it does has any effect any more. @throws Error for an unknown name. */
  controllerDown(name?: FaultyControllerName): void {
    checkController(name);
    for (const replica of this.#parts.replicas) replica.setUp(false, name);
  }

  /** Starts it, with nothing remembered. Without a name also every controller that was killed by itself. @throws Error for an unknown name. */
  controllerUp(name?: FaultyControllerName): void {
    checkController(name);
    for (const replica of this.#parts.replicas) replica.setUp(true, name);
  }

  /** Brings about what is wrong between components and the API server. Components are `scheduler`, `kubelet`, and the controllers by name. */
  network(fault: NetworkFault): () => void {
    return this.#parts.network.begin(fault);
  }

  /** Sets the wall clock of the controllers' machine; the API server's, the nodes' and the simulation's stay right. */
  jumpControllerClock(byMs: number): void {
    this.#parts.controllerClock.jump(byMs);
  }

  /**
   * Keeps whoever leads from its Lease, until the answered function is called: it cannot renew, exits, and another takes
   * over. Answers with nothing when nobody leads.
   */
  loseLease(): { readonly leader: string; readonly end: () => void } | undefined {
    const { replicas, network, electionOf } = this.#parts;
    const leader = replicas.find(({ leads }) => leads)?.name;
    if (leader === undefined) return undefined;
    return { leader, end: network.begin({ components: [electionOf(leader)], down: true }) };
  }

  /** Cuts a node off: its containers run on, unheard of. */
  nodeLost(name: string): void {
    this.#parts.kubelet.cutOff(name);
    this.#parts.silentNodes.set(name, true);
  }

  /** Ends {@link nodeLost}. Resolves once the node is heard of: one that cannot reach the API server tries again. */
  async nodeBack(name: string, signal: AbortSignal): Promise<void> {
    const { silentNodes, kubelet, clock } = this.#parts;
    while (!signal.aborted) {
      silentNodes.set(name, false);
      try {
        return await kubelet.reconnect(name, signal);
      } catch {
        this.nodeLost(name);
        await clock.sleep(RETRY_MS, signal).catch(() => {});
      }
    }
  }
}

function checkController(name: FaultyControllerName | undefined): void {
  if (name !== undefined) checkedNames<FaultyControllerName>([name], [...controllerNames, "node-lifecycle-controller"]);
}
