import type { Clock, Random } from "@kubewright/clock";
import type { ApiRequest, ApiResponse, Transport } from "@kubewright/transport";

import { DelayedEvents } from "./delayed-events.js";

/** A fault between components and the API server. It applies to requests that satisfy all given conditions. */
export interface NetworkFault {
  /** Names of components. Default: all. */
  readonly components?: readonly string[];
  /** Names of controller managers and other processes. Default: all. */
  readonly processes?: readonly string[];
  /** Matches requests. Default: every request. */
  readonly requests?: (request: ApiRequest) => boolean;
  /** Whether requests are refused and open watches cut. */
  readonly down?: boolean;
  /** Delay of requests before they reach the server. The longest of several faults counts. */
  readonly delayMs?: number;
  /** Plural names of resources whose watch events arrive only after the fault has ended. */
  readonly heldBackResources?: readonly string[];
  /**
   * Handles a request that has got this far: passes it on with `send`, answers in the server's place, or throws. Of
   * several faults, the oldest is called first, and its `send` calls the next.
   */
  readonly handle?: (request: ApiRequest, send: Transport, sender: Sender) => Promise<ApiResponse>;
}

/** The process whose requests a link carries. */
export interface Sender {
  readonly component: string;
  /** Controller manager or other process that the component is part of; `""` for none. */
  readonly process: string;
  /** Incarnation of the component, from 1. */
  readonly incarnation: number;
  /** Bucket of namespaces that the sender works for. */
  readonly bucket?: number;
  /** Components on whose behalf it sends requests too. Faults of their requests apply to its own. */
  readonly onBehalfOf?: readonly string[];
  /** While its process is paused: returns a promise that resolves when the process resumes. */
  readonly resumed?: () => Promise<void> | undefined;
  /**
   * Whether its requests pause with the process until they reach the server. Default true. False for a sender that
   * checks right before it sends: from then on the request is on its way, even if the process is paused.
   */
  readonly pausesRequests?: boolean;
}

/** A request on its way. */
export interface SentRequest {
  readonly sender: Sender;
  readonly request: ApiRequest;
  /** Epoch milliseconds of the network's clock. */
  readonly sentMs: number;
}

/** A request and its result. */
export interface NetworkExchange extends SentRequest {
  /** Response that the sender received. Absent: an error. */
  readonly response: ApiResponse | undefined;
  /**
   * Response of the API server. Absent: the request did not reach it. Differs from `response` when a fault replaced the
   * response.
   */
  readonly served: ApiResponse | undefined;
}

/** Maximum delays of requests and watch events in milliseconds. Each delay is drawn between 0 and the maximum. */
export interface Delays {
  /** Round trip of a request. */
  readonly requestsMs: number;
  /** Delay of a watch event. The events of one watch keep their order. */
  readonly eventsMs: number;
  /** Random source. The draws of a component depend only on the component and on the number of its draws. */
  readonly random: Random;
}

/** Connects the components of a cluster to its API server, and applies faults. */
export class Network {
  readonly #transport: Transport;
  readonly #clock: Clock;
  readonly #faults = new Set<NetworkFault>();
  readonly #watches = new Set<LinkedWatch<unknown>>();
  readonly #listeners = new Set<(answered: NetworkExchange) => void>();
  readonly #delays: Delays | undefined;
  readonly #randoms = new Map<string, Random>();
  readonly #disturbanceListeners = new Set<() => void>();
  #serving: SentRequest | undefined;

  /** @param options.delays - Default: no delays. */
  constructor(options: { readonly transport: Transport; readonly clock: Clock; readonly delays?: Delays | undefined }) {
    this.#transport = options.transport;
    this.#clock = options.clock;
    this.#delays = options.delays;
  }

  /**
   * Request that the API server is handling synchronously: the writes of this time are caused by it. Set only while a
   * listener {@link observe | observes}.
   */
  get serving(): SentRequest | undefined {
    return this.#serving;
  }

  /**
   * Calls the listener for every request when its sender receives the response, and for a watch when it opens. Returns
   * the function that removes the listener.
   */
  observe(listener: (answered: NetworkExchange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Ends the open watches, which may be opened again. Returns their number. */
  cutWatches(which: Pick<NetworkFault, "components" | "processes" | "requests"> = {}): number {
    let cut = 0;
    for (const watch of this.#watches) {
      if (!appliesTo(which, watch.sender, watch.request)) continue;
      watch.cut();
      cut++;
    }
    return cut;
  }

  /**
   * Makes the open watches silent: they deliver neither events nor their end, like a connection whose peer is gone.
   * Returns a function that closes those that are still open.
   */
  silenceWatches(which: Pick<NetworkFault, "components" | "processes" | "requests"> = {}): () => void {
    const silenced = [...this.#watches].filter((watch) => appliesTo(which, watch.sender, watch.request));
    for (const watch of silenced) watch.isSilent = true;
    return () => {
      for (const watch of silenced) watch.cut();
    };
  }

  /** Makes all waiting watches check again whether they must wait. */
  recheckWatches(): void {
    for (const watch of this.#watches) watch.recheck();
  }

  /** Whether a fault or a delay may affect requests. */
  get isDisturbed(): boolean {
    return this.#faults.size > 0 || this.#delays !== undefined;
  }

  /** Calls the listener right before a fault begins, in the network or in a process that uses it. */
  onDisturbance(listener: () => void): void {
    this.#disturbanceListeners.add(listener);
  }

  /** Reports that a fault of a process begins, such as a pause. */
  disturb(): void {
    for (const listener of this.#disturbanceListeners) listener();
  }

  /** Starts a fault. Returns the function that ends it, which may be called more than once. */
  begin(fault: NetworkFault): () => void {
    this.disturb();
    this.#faults.add(fault);
    if (fault.down === true) this.cutWatches(fault);
    return () => {
      this.#faults.delete(fault);
      this.recheckWatches();
    };
  }

  /**
   * Returns a component's transport to the server.
   *
   * @param alive - Returns false once the component's process is gone. The link then sends nothing more.
   */
  link(
    component: string,
    alive: () => boolean = () => true,
    process: Omit<Sender, "component"> = { process: "", incarnation: 1 },
  ): Transport {
    const sender: Sender = { component, ...process };
    const isImmediate = this.#delays === undefined && process.resumed === undefined;
    return async (request) => {
      const sentMs = this.#clock.now();
      const outbound = isImmediate ? undefined : this.#delayRequest(sender, request);
      const inboundMs = outbound === undefined ? 0 : await outbound;
      if (this.#faults.size > 0) {
        const delayMs = this.#delayMs(sender, request);
        if (delayMs > 0) await this.#clock.sleep(delayMs, request.signal);
        if (this.#isDown(sender, request)) {
          const error = connectionRefused();
          if (this.#listeners.size > 0)
            this.#notify({ sender, request, sentMs, response: undefined, served: undefined });
          throw error;
        }
      }
      if (!alive()) throw new Error(`${component} is not running`);
      const response = await (this.#listeners.size > 0
        ? this.#sendObserved({ sender, request, sentMs }, alive)
        : this.#withFaults(sender, request, alive, this.#transport)(request));
      if (inboundMs > 0) await this.#clock.sleep(inboundMs, request.signal);
      while (sender.resumed?.() !== undefined) await sender.resumed();
      return this.#linkWatch(sender, request, response);
    };
  }

  /** Waits for the delay of a request on its way to the server. Returns the delay of its response. */
  #delayRequest(sender: Sender, { signal }: ApiRequest): Promise<number> | undefined {
    const { requestsMs = 0 } = this.#delays ?? {};
    const resumed = (): Promise<void> | undefined => (sender.pausesRequests === false ? undefined : sender.resumed?.());
    if (requestsMs === 0 && resumed() === undefined) return undefined;
    const wait = async (): Promise<number> => {
      while (resumed() !== undefined) await resumed();
      if (requestsMs === 0) return 0;
      const random = this.#randomFor(`requests of ${sender.process}/${sender.component}`);
      const roundTripMs = random.next() * requestsMs;
      const outboundMs = Math.round(random.next() * roundTripMs);
      await this.#clock.sleep(outboundMs, signal);
      while (resumed() !== undefined) await resumed();
      return Math.round(roundTripMs) - outboundMs;
    };
    return wait();
  }

  #randomFor(label: string): Random {
    let random = this.#randoms.get(label);
    if (random === undefined) this.#randoms.set(label, (random = this.#delays!.random.fork(label)));
    return random;
  }

  /** Sends a request and notifies the listeners of the result. */
  async #sendObserved(sent: SentRequest, alive: () => boolean): Promise<ApiResponse> {
    const { sender, request } = sent;
    let served: ApiResponse | undefined;
    let response: ApiResponse | undefined;
    // The clock stops a component that sends requests in an endless loop.
    this.#clock.monotonic();
    const transport: Transport = async (last) => {
      const previous = this.#serving;
      this.#serving = { ...sent, request: last };
      let answer: Promise<ApiResponse>;
      try {
        answer = this.#transport(last);
      } finally {
        this.#serving = previous;
      }
      const answered = await answer;
      // A fault may send other requests, too.
      if (last.method === request.method && pathOf(last) === pathOf(request)) served = answered;
      return answered;
    };
    try {
      return (response = await this.#withFaults(sender, request, alive, transport)(request));
    } finally {
      this.#notify({ ...sent, response, served });
    }
  }

  #notify(answered: NetworkExchange): void {
    for (const listener of this.#listeners) listener(answered);
  }

  /** Returns the transport to the server through the faults that handle the request. */
  #withFaults(sender: Sender, request: ApiRequest, alive: () => boolean, transport: Transport): Transport {
    if (this.#faults.size === 0) return transport;
    const handlers: NonNullable<NetworkFault["handle"]>[] = [];
    for (const fault of this.#faults)
      if (fault.handle !== undefined && appliesTo(fault, sender, request)) handlers.push(fault.handle);
    if (handlers.length === 0) return transport;
    const last: Transport = async (sent) => {
      if (!alive()) throw new Error(`${sender.component} is not running`);
      return transport(sent);
    };
    return handlers.reduceRight<Transport>((send, handle) => (sent) => handle(sent, send, sender), last);
  }

  isHeldBack(sender: Sender, request: ApiRequest): boolean {
    if (this.#faults.size === 0) return false;
    const resource = resourceOf(request.path);
    for (const fault of this.#faults)
      if (fault.heldBackResources?.includes(resource) === true && appliesTo(fault, sender, request)) return true;
    return false;
  }

  #linkWatch(sender: Sender, request: ApiRequest, response: ApiResponse): ApiResponse {
    const { body } = response;
    if (body.type === "decoded" || !isWatch(request) || response.status > 206) return response;
    if (body.type === "events")
      return { ...response, body: { type: "events", events: this.#watch(sender, request, body.events) } };
    return { ...response, body: { type: "bytes", chunks: this.#watch(sender, request, body.chunks) } };
  }

  #watch<T>(sender: Sender, request: ApiRequest, stream: AsyncIterable<T>): AsyncIterable<T> {
    const { eventsMs = 0 } = this.#delays ?? {};
    const events =
      eventsMs === 0
        ? stream
        : new DelayedEvents(stream, {
            clock: this.#clock,
            maxDelayMs: eventsMs,
            random: this.#randomFor(`${resourceOf(request.path)} for ${sender.process}/${sender.component}`),
          });
    const watch = new LinkedWatch<T>(this, sender, request, events, () => this.#watches.delete(watch));
    this.#watches.add(watch);
    return watch;
  }

  #delayMs(sender: Sender, request: ApiRequest): number {
    let max = 0;
    for (const fault of this.#faults) if (appliesTo(fault, sender, request)) max = Math.max(max, fault.delayMs ?? 0);
    return max;
  }

  #isDown(sender: Sender, request: ApiRequest): boolean {
    for (const fault of this.#faults) if (fault.down === true && appliesTo(fault, sender, request)) return true;
    return false;
  }
}

function appliesTo(
  { components, processes, requests }: Pick<NetworkFault, "components" | "processes" | "requests">,
  { component, onBehalfOf = [], process }: Sender,
  request: ApiRequest,
): boolean {
  const matchesComponent = (name: string): boolean => name === component || onBehalfOf.includes(name);
  return (
    (components === undefined || components.some(matchesComponent)) &&
    (processes === undefined || processes.includes(process)) &&
    (requests === undefined || requests(request))
  );
}

/** Returns the path without the query. */
function pathOf({ path }: Pick<ApiRequest, "path">): string {
  const queryIndex = path.indexOf("?");
  return queryIndex < 0 ? path : path.slice(0, queryIndex);
}

function isWatch({ path }: ApiRequest): boolean {
  return /[?&]watch=(?:true|1)(?:&|$)/.test(path);
}

/** Returns the last segment of a collection's path: `pods` of `/api/v1/pods?watch=true`. */
function resourceOf(path: string): string {
  const barePath = pathOf({ path });
  return barePath.slice(barePath.lastIndexOf("/") + 1);
}

function connectionRefused(): Error {
  return Object.assign(new Error("connect ECONNREFUSED: the API server cannot be reached"), { code: "ECONNREFUSED" });
}

/** An open watch that can be cut, and whose events can be held back. Supports one reader, once. */
class LinkedWatch<T> implements AsyncIterable<T>, AsyncIterator<T, undefined> {
  readonly #network: Network;
  readonly #events: AsyncIterator<T>;
  readonly #onEnd: () => void;
  /** Whether the watch delivers nothing more, not even its end, until it is cut. */
  isSilent = false;
  #ended = false;
  #wake: (() => void) | undefined;

  constructor(
    network: Network,
    readonly sender: Sender,
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

  next(): Promise<IteratorResult<T, undefined>> {
    return this.#ended ? Promise.resolve(DONE) : this.#events.next().then((result) => this.#deliver(result));
  }

  #deliver(result: IteratorResult<T>): IteratorResult<T, undefined> | Promise<IteratorResult<T, undefined>> {
    if (!this.#ended && this.#isBlocked)
      return new Promise<void>((resolve) => (this.#wake = resolve)).then(() => this.#deliver(result));
    if (result.done === true) this.cut();
    return this.#ended ? DONE : (result as IteratorYieldResult<T>);
  }

  get #isBlocked(): boolean {
    const { resumed } = this.sender;
    return this.isSilent || this.#network.isHeldBack(this.sender, this.request) || resumed?.() !== undefined;
  }

  return(): Promise<IteratorResult<T, undefined>> {
    this.cut();
    return Promise.resolve(DONE);
  }

  /** Ends the stream and drops elements that have not been read. */
  cut(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.request.signal?.removeEventListener("abort", this.#onAbort);
    this.#onEnd();
    void this.#events.return?.();
    this.recheck();
  }

  /** Makes a waiting reader check again. */
  recheck(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };
