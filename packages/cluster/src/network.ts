import type { Clock } from "@kubewright/clock";
import type { ApiRequest, ApiResponse, Transport } from "@kubewright/transport";

/** What is wrong between components and the API server. It holds for everything that all given conditions hold for. */
export interface NetworkFault {
  /** Names of components. Default: all. */
  readonly components?: readonly string[];
  /** Default: every request. */
  readonly requests?: (request: ApiRequest) => boolean;
  /** Requests are refused, and open watches cut. */
  readonly down?: boolean;
  /** How much later requests reach the server. Of several faults the longest counts. */
  readonly delayMs?: number;
  /** Plural names of resources whose watch events arrive only once the fault has ended. */
  readonly heldResources?: readonly string[];
}

/** The ways from the components of a cluster to its API server, and what is wrong with them. */
export class Network {
  readonly #transport: Transport;
  readonly #clock: Clock;
  readonly #faults = new Set<NetworkFault>();
  readonly #watches = new Set<LinkedWatch>();

  constructor(options: { readonly transport: Transport; readonly clock: Clock }) {
    this.#transport = options.transport;
    this.#clock = options.clock;
  }

  /** Brings a fault about. Answers how to end it, which may be called again. */
  begin(fault: NetworkFault): () => void {
    this.#faults.add(fault);
    if (fault.down === true)
      for (const watch of this.#watches) if (concerns(fault, watch.component, watch.request)) watch.cut();
    return () => {
      this.#faults.delete(fault);
      for (const watch of this.#watches) watch.look();
    };
  }

  /**
   * A component's way to the server.
   *
   * @param alive - Nothing goes over it any more once this answers false: its process is gone.
   */
  link(component: string, alive: () => boolean = () => true): Transport {
    return async (request) => {
      if (this.#faults.size > 0) {
        const delayMs = this.#delayMs(component, request);
        if (delayMs > 0) await this.#clock.sleep(delayMs, request.signal);
        if (this.#isDown(component, request)) throw connectionRefused();
      }
      if (!alive()) throw new Error(`${component} is not running`);
      return this.#linked(component, request, await this.#transport(request));
    };
  }

  isHeld(component: string, request: ApiRequest): boolean {
    const resource = resourceOf(request.path);
    for (const fault of this.#faults)
      if (fault.heldResources?.includes(resource) === true && concerns(fault, component, request)) return true;
    return false;
  }

  #linked(component: string, request: ApiRequest, response: ApiResponse): ApiResponse {
    const { body } = response;
    if (body.type !== "events") return response;
    const watch = new LinkedWatch(this, component, request, body.events, () => this.#watches.delete(watch));
    this.#watches.add(watch);
    return { ...response, body: { type: "events", events: watch } };
  }

  #delayMs(component: string, request: ApiRequest): number {
    let longest = 0;
    for (const fault of this.#faults)
      if (concerns(fault, component, request)) longest = Math.max(longest, fault.delayMs ?? 0);
    return longest;
  }

  #isDown(component: string, request: ApiRequest): boolean {
    for (const fault of this.#faults) if (fault.down === true && concerns(fault, component, request)) return true;
    return false;
  }
}

function concerns({ components, requests }: NetworkFault, component: string, request: ApiRequest): boolean {
  return (components === undefined || components.includes(component)) && (requests === undefined || requests(request));
}

/** The last part of a collection's path: `pods` of `/api/v1/pods?watch=true`. */
function resourceOf(path: string): string {
  const mark = path.indexOf("?");
  const bare = mark < 0 ? path : path.slice(0, mark);
  return bare.slice(bare.lastIndexOf("/") + 1);
}

function connectionRefused(): Error {
  return Object.assign(new Error("connect ECONNREFUSED: the API server cannot be reached"), { code: "ECONNREFUSED" });
}

/** An open watch that can be cut, and whose events can be held back. For one reader, once. */
class LinkedWatch implements AsyncIterable<unknown>, AsyncIterator<unknown, undefined> {
  readonly #network: Network;
  readonly #events: AsyncIterator<unknown>;
  readonly #onEnd: () => void;
  #ended = false;
  #wake: (() => void) | undefined;

  constructor(
    network: Network,
    readonly component: string,
    readonly request: ApiRequest,
    events: AsyncIterable<unknown>,
    onEnd: () => void,
  ) {
    this.#network = network;
    this.#events = events[Symbol.asyncIterator]();
    this.#onEnd = onEnd;
    request.signal?.addEventListener("abort", this.#onAbort, { once: true });
    if (request.signal?.aborted === true) this.cut();
  }

  readonly #onAbort = (): void => this.cut();

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<unknown, undefined>> {
    if (this.#ended) return DONE;
    const result = await this.#events.next();
    while (!this.#ended && this.#network.isHeld(this.component, this.request))
      await new Promise<void>((resolve) => (this.#wake = resolve));
    if (result.done === true) this.cut();
    return this.#ended ? DONE : (result as IteratorYieldResult<unknown>);
  }

  return(): Promise<IteratorResult<unknown, undefined>> {
    this.cut();
    return Promise.resolve(DONE);
  }

  /** Ends the stream, with what has not been read. */
  cut(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.request.signal?.removeEventListener("abort", this.#onAbort);
    this.#onEnd();
    void this.#events.return?.();
    this.look();
  }

  /** Something has changed: whoever waits is to look again. */
  look(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };
