import { setMaxListeners } from "node:events";

import type { Status } from "@kubewright/api";
import { type ApiServer, createApiServer } from "@kubewright/apiserver";
import { Client } from "@kubewright/client";
import { type Logger, type Random, SimulatedClock, seededRandom } from "@kubewright/clock";
import { InformerFactory, type InformerFactoryOptions } from "@kubewright/informer";
import type { ApiRequest, ApiResponse, Transport } from "@kubewright/transport";

import type { ControllerDeps, EventSink, Runnable } from "../src/index.js";

/** How the server answers that refuses: with a code, or more than that. */
export type Refusal = Partial<Status> & { readonly code: number };

export interface HarnessOptions {
  /** When it begins. Default 10:00 on a day in March. */
  readonly start?: string | number;
  /** Whether what the server hands out is frozen. Default true. */
  readonly freeze?: boolean;
  /** Whether {@link ControllerHarness.requests} begin with the second they were sent at. Default false. */
  readonly timed?: boolean;
}

interface Running {
  readonly stop: AbortController;
  readonly ended: Promise<unknown>;
}

/**
 * A controller against an API server, in virtual time: started, stopped and started anew, with what it sends, tells and logs
 * recorded, and any request of its refused.
 */
export class ControllerHarness {
  readonly clock: SimulatedClock;
  readonly random: Random = seededRandom(1);
  readonly server: ApiServer;
  /** The test's own: neither recorded nor refused. */
  readonly admin: Client;
  /** The controller's. */
  readonly client: Client;
  /** What the controller sent, such as `PATCH pods/a/status`, without what fills its caches and its events. */
  readonly requests: string[] = [];
  /** Those of them that are not reading. */
  readonly writes: string[] = [];
  /** Bodies of these requests. */
  readonly bodies: unknown[] = [];
  /** What it told, such as `Normal SuccessfulCreate Created job n-1`. */
  readonly events: string[] = [];
  /** Records {@link events}. */
  readonly sink: EventSink = {
    event: (_object, _definition, type, reason, message) => void this.events.push(`${type} ${reason} ${message}`),
  };
  readonly logged: { readonly level: keyof Logger; readonly fields: object; readonly message: string }[] = [];
  /** Called before a request that is recorded is sent; may answer it, or say what to refuse it with. */
  intercept: (what: string, request: ApiRequest) => Answer | Promise<Answer> = () => undefined;
  /** The way from the controller to the server, for all that is sent: may answer in the server's place. */
  network: (request: ApiRequest, serve: Transport) => ApiResponse | Promise<ApiResponse> | undefined = () => undefined;
  readonly #timed: boolean;
  readonly #refusals: { readonly what: RegExp; readonly refusal: Refusal; times: number }[] = [];
  #running: Running | undefined;

  constructor({ start = "2026-03-02T10:00:00Z", freeze = true, timed = false }: HarnessOptions = {}) {
    const clock = new SimulatedClock(start);
    this.clock = clock;
    this.server = createApiServer({ clock, random: this.random.fork("apiserver"), freeze });
    this.#timed = timed;
    this.admin = new Client({ transport: this.server.transport, clock, userAgent: "test" });
    this.client = new Client({ transport: (request) => this.#send(request), clock, userAgent: "controller" });
  }

  /** Refuses the next requests that fit, such as `/^POST jobs/`, as often as is said. Default: once. */
  refuse(what: RegExp, refusal: Refusal, times = 1): void {
    this.#refusals.push({ what, refusal, times });
  }

  /** Makes the controller, runs it with caches that it shares, and lets it see what there is. */
  protected async runController(
    make: (deps: ControllerDeps & { readonly informers: InformerFactory }) => Runnable,
    caches: Partial<InformerFactoryOptions> | InformerFactory = {},
  ): Promise<void> {
    const { client, clock, random } = this;
    const informers =
      caches instanceof InformerFactory ? caches : new InformerFactory({ client, clock, random, ...caches });
    const controller = make({ client, clock, random, informers, events: this.sink, logger: this.#logger });
    const stop = new AbortController();
    // Every request in flight listens, and there may be hundreds.
    setMaxListeners(0, stop.signal);
    this.#running = { stop, ended: Promise.all([informers.run(stop.signal), controller.run(stop.signal)]) };
    await clock.settle();
  }

  /** Tells the controller to stop without waiting for it, as from the middle of a request of its own. */
  abort(): void {
    this.#running?.stop.abort(new Error("stopped"));
  }

  async stop(): Promise<void> {
    this.abort();
    await this.#running?.ended;
  }

  async advance(seconds: number): Promise<void> {
    await this.clock.advance(seconds * 1000);
  }

  /** What the controller sent since the last call. */
  sent(): string[] {
    return this.requests.splice(0);
  }

  /** How a request is recorded; `undefined`: not at all. */
  protected describe(request: ApiRequest): string | undefined {
    const { method, path } = request;
    const [resource, name, ...rest] = pathSegmentsOf(path);
    if (!resource || /^([^:]*:)?events$/.test(resource) || (method === "GET" && name === undefined)) return undefined;
    return [`${method} ${resource}`, name, ...rest].filter(Boolean).join("/");
  }

  async #send(request: ApiRequest): Promise<ApiResponse> {
    const what = this.describe(request);
    if (what === undefined) return this.#forward(request);
    const recorded = this.#timed ? `${this.clock.monotonic() / 1000} ${what}` : what;
    this.requests.push(recorded);
    if (request.method !== "GET") this.writes.push(recorded);
    if (request.body?.type === "decoded") this.bodies.push(request.body.value);
    const answer = (await this.intercept(what, request)) ?? this.#refusal(what);
    if (answer === undefined) return this.#forward(request);
    if (typeof answer === "number") return refused({ code: answer, message: "made to fail" });
    return "headers" in answer ? answer : refused(answer);
  }

  async #forward(request: ApiRequest): Promise<ApiResponse> {
    const { transport } = this.server;
    return this.network(request, transport) ?? transport(request);
  }

  #refusal(what: string): Refusal | undefined {
    const found = this.#refusals.find((each) => each.times > 0 && each.what.test(what));
    if (found === undefined) return undefined;
    found.times--;
    return found.refusal;
  }

  readonly #logger: Logger = {
    debug: (fields, message) => void this.logged.push({ level: "debug", fields, message }),
    info: (fields, message) => void this.logged.push({ level: "info", fields, message }),
    warn: (fields, message) => void this.logged.push({ level: "warn", fields, message }),
    error: (fields, message) => void this.logged.push({ level: "error", fields, message }),
  };
}

/**
 * What a path is about: resource, name and subresource, or nothing for discovery. Other namespaces than `default` stand
 * before the resource: `kube-system:pods`.
 */
export function pathSegmentsOf(path: string): string[] {
  return path
    .replace(/\?.*$/, "")
    .replace(/^\/(api|apis\/[^/]+)\/[^/]+(\/|$)/, "")
    .replace(/^\/apis?$/, "")
    .replace(/^namespaces\/default\/(?=[^/]+)/, "")
    .replace(/^namespaces\/([^/]+)\/(?=[^/]+)/, "$1:")
    .split("/")
    .filter(Boolean);
}

/** What becomes of a request: nothing special, an answer, or a refusal, which may be just its code. */
export type Answer = ApiResponse | Refusal | number | undefined | void;

/** What a server answers that refuses. */
export function refused(refusal: Refusal): ApiResponse {
  const value: Status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", ...refusal };
  return { status: refusal.code, headers: {}, body: { type: "decoded", value } };
}
