import type { Clock, Random } from "@kubewright/clock";
import type { ApiRequest, ApiResponse, Transport } from "@kubewright/transport";

import { DelayedEvents } from "./delayed-events.js";

/** What is wrong between components and the API server. It holds for everything that all given conditions hold for. */
export interface NetworkFault {
  /** Names of components. Default: all. */
  readonly components?: readonly string[];
  /** Names of controller managers, and other processes. Default: all. */
  readonly processes?: readonly string[];
  /** Default: every request. */
  readonly requests?: (request: ApiRequest) => boolean;
  /** Requests are refused, and open watches cut. */
  readonly down?: boolean;
  /** How much later requests reach the server. Of several faults the longest counts. */
  readonly delayMs?: number;
  /** Plural names of resources whose watch events arrive only once the fault has ended. */
  readonly heldBackResources?: readonly string[];
  /**
   * What becomes of a request that has got this far: hands it on with `send`, or answers in the server's place, or fails. Of
   * several faults, the one that was begun first is asked first, and sends to the next.
   */
  readonly handle?: (request: ApiRequest, send: Transport, sender: Sender) => Promise<ApiResponse>;
}

/** Whose requests go over a link. */
export interface Sender {
  readonly component: string;
  /** The controller manager, or other process, that it is part of; `""`: of none. */
  readonly process: string;
  /** Which life of it this is, from 1. */
  readonly incarnation: number;
  /** Of one that works for a bucket of namespaces: which. */
  readonly bucket?: number;
  /** Components for which it asks, too: what is wrong with their requests is wrong with its own. */
  readonly onBehalfOf?: readonly string[];
  /** While its process stands still: resolves when that goes on. */
  readonly resumed?: () => Promise<void> | undefined;
  /**
   * Whether its requests stand still with it, until they are at the server. Default true. What was asked right before it was sent
   * whether it may be is on its way, whatever becomes of the process.
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

/** What became of a request. */
export interface AnsweredRequest extends SentRequest {
  /** What its sender got. Absent: an error. */
  readonly response: ApiResponse | undefined;
  /** What the API server answered. Absent: the request did not get there. Another one than `response`: a fault has a hand in it. */
  readonly served: ApiResponse | undefined;
}

/** Longest times that requests and events take by themselves, in milliseconds; each is drawn between nothing and that. */
export interface Delays {
  /** There and back. */
  readonly requestsMs: number;
  /** Of one watch they keep their order. */
  readonly eventsMs: number;
  /** What each component draws depends on the component, and on how often it has drawn. */
  readonly random: Random;
}

/** The ways from the components of a cluster to its API server, and what is wrong with them. */
export class Network {
  readonly #transport: Transport;
  readonly #clock: Clock;
  readonly #faults = new Set<NetworkFault>();
  readonly #watches = new Set<LinkedWatch<unknown>>();
  readonly #listeners = new Set<(answered: AnsweredRequest) => void>();
  readonly #delays: Delays | undefined;
  readonly #randoms = new Map<string, Random>();
  #serving: SentRequest | undefined;

  /** @param options.delays - Default: nothing takes any time by itself. */
  constructor(options: { readonly transport: Transport; readonly clock: Clock; readonly delays?: Delays | undefined }) {
    this.#transport = options.transport;
    this.#clock = options.clock;
    this.#delays = options.delays;
  }

  /**
   * The request that the API server has just been handed: what it does before it lets anybody else go on, it does because of
   * that. Only while somebody {@link observe | observes}.
   */
  get serving(): SentRequest | undefined {
    return this.#serving;
  }

  /** Calls back for every request, when its sender has the answer; for a watch, when it opens. Answers how to stop that. */
  observe(listener: (answered: AnsweredRequest) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Ends the watches that are open now; nothing keeps them from being opened anew. Answers how many there were. */
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
   * Lets the watches that are open now tell nothing more, not even that they end: a connection of which the other end is
   * gone. Answers how to end that, which breaks those that are open still.
   */
  silenceWatches(which: Pick<NetworkFault, "components" | "processes" | "requests"> = {}): () => void {
    const silenced = [...this.#watches].filter((watch) => appliesTo(which, watch.sender, watch.request));
    for (const watch of silenced) watch.isSilent = true;
    return () => {
      for (const watch of silenced) watch.cut();
    };
  }

  /** Has all who wait look anew whether they still have to. */
  recheckWatches(): void {
    for (const watch of this.#watches) watch.recheck();
  }

  /** Brings a fault about. Answers how to end it, which may be called again. */
  begin(fault: NetworkFault): () => void {
    this.#faults.add(fault);
    if (fault.down === true) this.cutWatches(fault);
    return () => {
      this.#faults.delete(fault);
      this.recheckWatches();
    };
  }

  /**
   * A component's way to the server.
   *
   * @param alive - Nothing goes over it any more once this answers false: its process is gone.
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

  /** Takes the time that a request takes to get there. Answers how long its answer will take. */
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

  /** Sends a request, and tells what became of it. */
  async #sendObserved(sent: SentRequest, alive: () => boolean): Promise<ApiResponse> {
    const { sender, request } = sent;
    let served: ApiResponse | undefined;
    let response: ApiResponse | undefined;
    // Whoever asks without end is stopped here, on a clock that stops anybody.
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
      // A fault may ask for other things, too.
      if (last.method === request.method && pathOf(last) === pathOf(request)) served = answered;
      return answered;
    };
    try {
      return (response = await this.#withFaults(sender, request, alive, transport)(request));
    } finally {
      this.#notify({ ...sent, response, served });
    }
  }

  #notify(answered: AnsweredRequest): void {
    for (const listener of this.#listeners) listener(answered);
  }

  /** The way to the server through the faults that have a say in what becomes of a request. */
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

/** Without the query. */
function pathOf({ path }: Pick<ApiRequest, "path">): string {
  const queryIndex = path.indexOf("?");
  return queryIndex < 0 ? path : path.slice(0, queryIndex);
}

function isWatch({ path }: ApiRequest): boolean {
  return /[?&]watch=(?:true|1)(?:&|$)/.test(path);
}

/** The last part of a collection's path: `pods` of `/api/v1/pods?watch=true`. */
function resourceOf(path: string): string {
  const barePath = pathOf({ path });
  return barePath.slice(barePath.lastIndexOf("/") + 1);
}

function connectionRefused(): Error {
  return Object.assign(new Error("connect ECONNREFUSED: the API server cannot be reached"), { code: "ECONNREFUSED" });
}

/** An open watch that can be cut, and whose events can be held back. For one reader, once. */
class LinkedWatch<T> implements AsyncIterable<T>, AsyncIterator<T, undefined> {
  readonly #network: Network;
  readonly #events: AsyncIterator<T>;
  readonly #onEnd: () => void;
  /** Nobody hears of it any more, until it is cut. */
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

  /** Ends the stream, with what has not been read. */
  cut(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.request.signal?.removeEventListener("abort", this.#onAbort);
    this.#onEnd();
    void this.#events.return?.();
    this.recheck();
  }

  /** Something has changed: whoever waits is to look again. */
  recheck(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };
