import { setMaxListeners } from "node:events";

import type { Status } from "@kubewright/api";
import { type ApiServer, createApiServer } from "@kubewright/apiserver";
import { Client } from "@kubewright/client";
import { type Logger, type Random, SimulatedClock, seededRandom } from "@kubewright/clock";
import { InformerFactory, type InformerFactoryOptions } from "@kubewright/informer";
import type { ApiRequest, ApiResponse, Transport } from "@kubewright/transport";

import type { ControllerDeps, EventSink, Runnable } from "../src/index.js";

/** A response that rejects a request: at least a status code. */
export type Refusal = Partial<Status> & { readonly code: number };

export interface HarnessOptions {
  /** Start time of the simulated clock. Default 2026-03-02T10:00:00Z. */
  readonly start?: string | number;
  /** Whether the server freezes the objects it returns. Default true. */
  readonly freeze?: boolean;
  /** Whether each of {@link ControllerHarness.requests} begins with the second at which it was sent. Default false. */
  readonly timed?: boolean;
}

interface Running {
  readonly stop: AbortController;
  readonly ended: Promise<unknown>;
}

/**
 * Runs a controller against an API server in virtual time. A test can start, stop and restart the controller and reject
 * its requests. The harness records its requests, events and logs.
 */
export class ControllerHarness {
  readonly clock: SimulatedClock;
  readonly random: Random = seededRandom(1);
  readonly server: ApiServer;
  /** The test's own client, whose requests are neither recorded nor rejected. */
  readonly admin: Client;
  /** The controller's client. */
  readonly client: Client;
  /** Requests of the controller, such as `PATCH pods/a/status`, without lists, watches and events. */
  readonly requests: string[] = [];
  /** The subset of {@link requests} that are not reads. */
  readonly writes: string[] = [];
  /** Bodies of the recorded requests. */
  readonly bodies: unknown[] = [];
  /** Events of the controller, such as `Normal SuccessfulCreate Created job n-1`. */
  readonly events: string[] = [];
  /** Records {@link events}. */
  readonly sink: EventSink = {
    event: (_object, _definition, type, reason, message) => void this.events.push(`${type} ${reason} ${message}`),
  };
  readonly logged: { readonly level: keyof Logger; readonly fields: object; readonly message: string }[] = [];
  /** Called before a recorded request is sent. May return a response or a rejection. */
  intercept: (what: string, request: ApiRequest) => Answer | Promise<Answer> = () => undefined;
  /** The network between the controller and the server, for all requests. May respond in place of the server. */
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

  /** Rejects the next requests that match, such as `/^POST jobs/`. Default: one request. */
  refuse(what: RegExp, refusal: Refusal, times = 1): void {
    this.#refusals.push({ what, refusal, times });
  }

  /** Creates a controller, runs it with shared caches, and waits until it has processed the existing objects. */
  protected async runController(
    make: (deps: ControllerDeps & { readonly informers: InformerFactory }) => Runnable,
    caches: Partial<InformerFactoryOptions> | InformerFactory = {},
  ): Promise<void> {
    const { client, clock, random } = this;
    const informers =
      caches instanceof InformerFactory ? caches : new InformerFactory({ client, clock, random, ...caches });
    const controller = make({ client, clock, random, informers, events: this.sink, logger: this.#logger });
    const stop = new AbortController();
    // Every request in flight adds a listener, and there may be hundreds.
    setMaxListeners(0, stop.signal);
    this.#running = { stop, ended: Promise.all([informers.run(stop.signal), controller.run(stop.signal)]) };
    await clock.settle();
  }

  /** Stops the controller without waiting, for example during one of its requests. */
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

  /** Returns the controller's requests since the last call. */
  sent(): string[] {
    return this.requests.splice(0);
  }

  /** Returns the recorded form of a request, or `undefined` for a request that is not recorded. */
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
 * Returns the resource, name and subresource of a path, or nothing for discovery. A namespace other than `default`
 * precedes the resource: `kube-system:pods`.
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

/** Handling of a request: none, a response, or a rejection, which may be just a status code. */
export type Answer = ApiResponse | Refusal | number | undefined | void;

/** Creates the response of a server that rejects a request. */
export function refused(refusal: Refusal): ApiResponse {
  const value: Status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", ...refusal };
  return { status: refusal.code, headers: {}, body: { type: "decoded", value } };
}
