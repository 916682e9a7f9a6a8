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
  /**
   * What becomes of a request that has got this far: hands it on with `send`, or answers in the server's place, or fails. Of
   * several faults, the one that was begun first is asked first, and sends to the next.
   */
  readonly handle?: (request: ApiRequest, send: Transport) => Promise<ApiResponse>;
}

/** The ways from the components of a cluster to its API server, and what is wrong with them. */
export class Network {
  readonly #transport: Transport;
  readonly #clock: Clock;
  readonly #faults = new Set<NetworkFault>();
  readonly #watches = new Set<LinkedWatch<unknown>>();

  constructor(options: { readonly transport: Transport; readonly clock: Clock }) {
    this.#transport = options.transport;
    this.#clock = options.clock;
  }

  /** Ends the watches that are open now; nothing keeps them from being opened anew. Answers how many there were. */
  cutWatches(which: Pick<NetworkFault, "components" | "requests"> = {}): number {
    let cut = 0;
    for (const watch of this.#watches) {
      if (!concerns(which, watch.component, watch.request)) continue;
      watch.cut();
      cut++;
    }
    return cut;
  }

  /** Brings a fault about. Answers how to end it, which may be called again. */
  begin(fault: NetworkFault): () => void {
    this.#faults.add(fault);
    if (fault.down === true) this.cutWatches(fault);
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
      const send = this.#faults.size > 0 ? this.#handlers(component, request, alive) : this.#transport;
      return this.#linked(component, request, await send(request));
    };
  }

  /** The way to the server through the faults that have a say in what becomes of a request. */
  #handlers(component: string, request: ApiRequest, alive: () => boolean): Transport {
    const handlers: NonNullable<NetworkFault["handle"]>[] = [];
    for (const fault of this.#faults)
      if (fault.handle !== undefined && concerns(fault, component, request)) handlers.push(fault.handle);
    if (handlers.length === 0) return this.#transport;
    const last: Transport = async (sent) => {
      if (!alive()) throw new Error(`${component} is not running`);
      return this.#transport(sent);
    };
    return handlers.reduceRight<Transport>((send, handle) => (sent) => handle(sent, send), last);
  }

  isHeld(component: string, request: ApiRequest): boolean {
    const resource = resourceOf(request.path);
    for (const fault of this.#faults)
      if (fault.heldResources?.includes(resource) === true && concerns(fault, component, request)) return true;
    return false;
  }

  #linked(component: string, request: ApiRequest, response: ApiResponse): ApiResponse {
    const { body } = response;
    if (body.type === "decoded" || !isWatch(request) || response.status > 206) return response;
    if (body.type === "events")
      return { ...response, body: { type: "events", events: this.#watch(component, request, body.events) } };
    return { ...response, body: { type: "bytes", chunks: this.#watch(component, request, body.chunks) } };
  }

  #watch<T>(component: string, request: ApiRequest, stream: AsyncIterable<T>): AsyncIterable<T> {
    const watch = new LinkedWatch<T>(this, component, request, stream, () => this.#watches.delete(watch));
    this.#watches.add(watch);
    return watch;
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

function concerns(
  { components, requests }: Pick<NetworkFault, "components" | "requests">,
  component: string,
  request: ApiRequest,
): boolean {
  return (components === undefined || components.includes(component)) && (requests === undefined || requests(request));
}

function isWatch({ path }: ApiRequest): boolean {
  return /[?&]watch=(?:true|1)(?:&|$)/.test(path);
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
class LinkedWatch<T> implements AsyncIterable<T>, AsyncIterator<T, undefined> {
  readonly #network: Network;
  readonly #events: AsyncIterator<T>;
  readonly #onEnd: () => void;
  #ended = false;
  #wake: (() => void) | undefined;

  constructor(
    network: Network,
    readonly component: string,
    readonly request: ApiRequest,
    events: AsyncIterable<T>,
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

  async next(): Promise<IteratorResult<T, undefined>> {
    if (this.#ended) return DONE;
    const result = await this.#events.next();
    while (!this.#ended && this.#network.isHeld(this.component, this.request))
      await new Promise<void>((resolve) => (this.#wake = resolve));
    if (result.done === true) this.cut();
    return this.#ended ? DONE : (result as IteratorYieldResult<T>);
  }

  return(): Promise<IteratorResult<T, undefined>> {
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
