import {
  type KubernetesObject,
  type KubernetesVersion,
  NEWEST_VERSION,
  type Service,
  behavioursOf,
  gitVersionOf,
} from "@kubewright/api";
import { type Clock, type Random, realRandom, standardErrorLogger } from "@kubewright/clock";
import {
  type ApiRequest,
  type ApiResponse,
  type HeaderFields,
  type Transport,
  parseRequestUrl,
} from "@kubewright/transport";

import { AccessControl, type Caller } from "./access-control.js";
import type { ApiCall } from "./api-call.js";
import {
  ApiError,
  badRequest,
  expired,
  internalError,
  noSuchResource,
  notAcceptable,
  notFound,
  shapeNotAcceptable,
} from "./api-error.js";
import type { AuditListener } from "./audit.js";
import { type AuthenticationOptions, Authenticator, authenticated } from "./authentication/authenticator.js";
import { TokenSigner } from "./authentication/json-web-token.js";
import { DEFAULT_ISSUER, ServiceAccountTokens } from "./authentication/service-account-tokens.js";
import { type Authorizer, MASTERS_GROUP, type UserInfo, authorizerOf } from "./authorization/authorizer.js";
import { bootstrapPolicy } from "./authorization/bootstrap-policy.js";
import { RbacAuthorizer } from "./authorization/rbac-authorizer.js";
import { BookmarkClock } from "./bookmark-clock.js";
import type { BuiltInResource } from "./built-in-resource.js";
import { DefinitionRegistrar } from "./custom-resources/definition-registrar.js";
import { decodedResponse } from "./decoded-response.js";
import { DEFAULT_ACCOUNT, DefaultAccounts } from "./default-accounts.js";
import { Discovery, pathParts } from "./discovery.js";
import { dispatch, servedVerb } from "./dispatch.js";
import { ManagerReader } from "./fields/managers.js";
import { NewObjects } from "./fields/new-objects.js";
import { type HttpConnection, type HttpListener, type ListenOptions, listenHttp } from "./http-listener.js";
import { builtInResources } from "./kinds/index.js";
import { NamespaceEmptier } from "./namespace-emptier.js";
import { type VersionInfo, serveNonResource, versionInfo } from "./non-resource.js";
import { ObjectExpiry } from "./object-expiry.js";
import { OpenApi } from "./openapi.js";
import { NO_PARAMETERS, Query, parseGoDuration } from "./query.js";
import { type Reply, textReply, valueReply } from "./reply.js";
import { checkBodyLength } from "./request-body.js";
import { type RequestInfo, type ResourceAttributes, pathSegmentErrors, requestInfo } from "./request-info.js";
import { Admission, type AdmissionPlugin } from "./registry/admission.js";
import { RequestTimeout } from "./request-timeout.js";
import { ResourceRegistry } from "./resource-registry.js";
import { type Route, route } from "./route.js";
import { BuiltInSchemas } from "./schema/built-in-schemas.js";
import type { ServerState } from "./server-state.js";
import { serveBuiltIn } from "./serve-built-in.js";
import type { ResourceStorage } from "./storage/resource-storage.js";
import { Store, type StoreSnapshot } from "./storage/store.js";
import { asksForShape, negotiate } from "./transform.js";
import { virtualResources } from "./virtual-resources.js";
import { warningHeaders } from "./warning-headers.js";

export interface ApiServerOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Deep-freezes what is stored, so that a client that writes to it throws. For tests; default false. */
  readonly freeze?: boolean;
  /** What the server knows from the start. Default: the kinds of this package. */
  readonly resources?: readonly BuiltInResource[];
  /** Milliseconds between progress bookmarks, for watches that want them and while anything is written. Default 60,000. */
  readonly bookmarkIntervalMs?: number;
  /** Changes remembered per resource at most, for watches and lists to come back to. Default 10,000; never fewer than 1,000 or 5 minutes' worth of them. */
  readonly historyLimit?: number;
  /**
   * Bytes of changes remembered, over all resources and as they are in memory, roughly; beyond, the resource with the most of
   * them forgets its oldest ones, however few they are. Default 64 MiB.
   */
  readonly historyBytes?: number;
  /**
   * Bytes of replaced objects kept for watches and lists whose clients do not read, roughly; beyond, who is the furthest behind
   * is cut off. Default 64 MiB.
   */
  readonly backlogBytes?: number;
  /**
   * Whether there is what people expect to find in a cluster besides namespaces: the Service `kubernetes`, a ServiceAccount
   * `default` in every namespace, and RBAC's roles and bindings whatever the authorization is. Default false: a test finds
   * what it made.
   */
  readonly furnished?: boolean;
  /** Begins with what an earlier server kept; resourceVersions go on from there. */
  readonly restore?: StoreSnapshot;
  /** The release whose rules it keeps, and calls itself. Default: the newest. */
  readonly kubernetesVersion?: KubernetesVersion;
  /** What `/version` says instead. */
  readonly version?: VersionInfo;
  /** Whether `metadata.managedFields` is kept up. Default true. */
  readonly trackFields?: boolean;
  /** Who comes over the listeners. Default: nobody is asked, and whoever shows nothing known is `system:anonymous`. */
  readonly authentication?: AuthenticationOptions;
  /**
   * Who may do what. `RBAC` goes by the stored roles and bindings, and begins with `cluster-admin` and what clients need to
   * find their way. A function decides by itself. Default `AlwaysAllow`.
   */
  readonly authorization?: "AlwaysAllow" | "RBAC" | Authorizer["authorize"];
  /** Asked before anything is written, in this order, and before what the server's own kinds ask for. Default: none. */
  readonly admission?: readonly AdmissionPlugin[];
  /**
   * Sees every request before it is served and may answer in its place, or wait: where faults are put in. What came over a
   * listener has no body yet.
   */
  readonly intercept?: (request: ApiRequest) => ApiResponse | undefined | Promise<ApiResponse | undefined>;
  /**
   * More paths to serve, exactly as written, to those who may get them like any path outside the Kubernetes API. Answers are
   * what their content type says: browsers are told not to guess.
   */
  readonly paths?: Readonly<Record<string, PathHandler>>;
  /** Told of a failure of the server itself, which the client sees only as a 500 with its message. Default: standard error. */
  readonly onError?: (error: unknown) => void;
}

/** Serves a path that is no part of the Kubernetes API. */
export type PathHandler = (request: ApiRequest) => Promise<PathAnswer>;

export interface PathAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
  readonly headers?: HeaderFields;
}

/** A Kubernetes API server in this process. */
export interface ApiServer {
  /** Serves requests in process: decoded objects in and out. Its user is `system:apiserver`, who may do everything. */
  readonly transport: Transport;
  /** The same as somebody else, who may do what the authorizer says. */
  transportAs(user: Omit<UserInfo, "groups"> & { readonly groups?: readonly string[] }): Transport;
  /** Serves the same over HTTP. @throws Error naming host and port when they are not to be had. */
  listen(options?: ListenOptions): Promise<HttpListener>;
  /** The version of the latest write. */
  readonly resourceVersion: string;
  /** Calls back for every request once it is answered; a watch counts when it opens. Answers how to stop that. */
  observe(listener: AuditListener): () => void;
  /** Forgets the history of changes, as etcd's compaction does: older watches and lists get 410. */
  compact(): void;
  /**
   * Another server of this package answers from now on, on the listeners of this one, and in its place closes them. Open
   * watches end as after a compaction, with 410; requests under way are still answered here.
   */
  handOver(successor: ApiServer): void;
  /** All that is stored, as JSON data that shares with the server: do not change it. */
  snapshot(): StoreSnapshot;
  /** Ends open watches and listeners. */
  close(): Promise<void>;
}

/** Makes a server with the namespaces every cluster begins with. */
export function createApiServer(options: ApiServerOptions): ApiServer {
  return new EmbeddedApiServer(options);
}

const NO_SNIFFING = { "x-content-type-options": "nosniff" };
const NOT_FOUND_PAGE = textReply(404, "404 page not found\n", "text/plain; charset=utf-8", NO_SNIFFING);
/** As Go's server answers before it asks who is there. */
const BAD_REQUEST_PAGE = textReply(400, "400 Bad Request", "text/plain; charset=utf-8", { connection: "close" });
const NO_RESOURCE: ResourceAttributes = {
  group: "",
  version: "",
  resource: "",
  subresource: "",
  namespace: "",
  name: "",
};
const MEDIA_TYPES = ["application/json", "application/yaml"];
/** Whoever calls in process, unless they say otherwise. */
const LOOPBACK: UserInfo = { username: "system:apiserver", groups: [MASTERS_GROUP, "system:authenticated"] };
const DEFAULT_HISTORY_BYTES = 64 * 1024 * 1024;
const DEFAULT_BACKLOG_BYTES = 64 * 1024 * 1024;
const INITIAL_NAMESPACES = ["default", "kube-system", "kube-public", "kube-node-lease"];

/** Upstream: `pkg/controlplane/controller/kubernetesservice`. Nothing answers at its address here. */
const KUBERNETES_SERVICE: Service = {
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "kubernetes", labels: { component: "apiserver", provider: "kubernetes" } },
  spec: { clusterIP: "10.96.0.1", ports: [{ name: "https", port: 443, protocol: "TCP", targetPort: 6443 }] },
};

/** As a watch that is too old is told. Upstream: apiserver `pkg/storage/etcd3` watcher. */
const HANDED_OVER = "The resourceVersion for the provided watch is too old.";

/** A listener, and who answers what comes in there. */
interface Door {
  server: EmbeddedApiServer;
}

/** A request, and what has been found out about it so far. */
interface Exchange {
  readonly request: ApiRequest;
  readonly userAgent: string;
  readonly startedMs: number;
  readonly warnings: string[];
  info: RequestInfo | undefined;
  route: Route["type"] | undefined;
  user: UserInfo | undefined;
}

class EmbeddedApiServer implements ApiServer {
  readonly #state: ServerState;
  readonly #discovery: Discovery;
  readonly #openApi: OpenApi;
  readonly #version: VersionInfo;
  readonly #intercept: ApiServerOptions["intercept"];
  readonly #paths: ReadonlyMap<string, PathHandler>;
  readonly #onError: (error: unknown) => void;
  readonly #observers = new Set<AuditListener>();
  readonly #doors = new Map<Door, HttpListener>();

  constructor(options: ApiServerOptions) {
    const { clock, kubernetesVersion = NEWEST_VERSION } = options;
    const behaviours = behavioursOf(kubernetesVersion);
    const maxChanges = options.historyLimit ?? 10_000;
    const historyLimits = { minChanges: Math.min(1000, maxChanges), maxChanges, maxAgeMs: 300_000 };
    const store = new Store({
      clock,
      freeze: options.freeze ?? false,
      historyLimits,
      historyBytes: options.historyBytes ?? DEFAULT_HISTORY_BYTES,
      backlogBytes: options.backlogBytes ?? DEFAULT_BACKLOG_BYTES,
      restore: options.restore,
    });
    const resources = options.resources ?? builtInResources(behaviours);
    const schemas = new BuiltInSchemas(resources.flatMap(({ types }) => types ?? []));
    const registry = new ResourceRegistry();
    for (const resource of resources) registry.add(serveBuiltIn(resource, store, schemas));
    for (const resource of virtualResources(store, schemas)) registry.add(resource);
    this.#state = {
      clock,
      random: options.random.fork("apiserver"),
      access: accessControl(options, registry),
      admission: new Admission(admissionPlugins(options.admission, resources)),
      store,
      registry,
      namespaces: registry.find("", "v1", "namespaces"),
      schemas,
      tracksFields: options.trackFields ?? true,
      managers: new ManagerReader(),
      newObjects: new NewObjects(),
      bookmarks: new BookmarkClock({ clock, store, intervalMs: options.bookmarkIntervalMs ?? 60_000 }),
      behaviours,
    };
    this.#discovery = new Discovery(registry);
    this.#openApi = new OpenApi(registry);
    this.#version = options.version ?? versionInfo(gitVersionOf(kubernetesVersion));
    this.#intercept = options.intercept;
    this.#paths = new Map(Object.entries(options.paths ?? {}));
    const logger = standardErrorLogger(clock, "apiserver");
    this.#onError = options.onError ?? ((error) => logger.error({ err: error }, "API server failed"));
    this.#startHousekeeping();
    for (const name of INITIAL_NAMESPACES)
      this.#createInitially("", "namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name } });
    const furnished = options.furnished ?? false;
    if (furnished) this.#furnish();
    if (furnished || options.authorization === "RBAC")
      for (const policy of bootstrapPolicy())
        this.#createInitially("rbac.authorization.k8s.io", `${policy.kind!.toLowerCase()}s`, policy);
  }

  readonly transport: Transport = this.transportAs(LOOPBACK);

  transportAs(user: Omit<UserInfo, "groups"> & { readonly groups?: readonly string[] }): Transport {
    const caller: Caller = { type: "known", user: authenticated({ ...user, groups: user.groups ?? [] }) };
    const serve = (request: ApiRequest): Promise<ApiResponse> => {
      const reply = this.#serve(request, "", caller);
      return reply instanceof Promise
        ? reply.then((later) => decodedResponse(later, request.signal))
        : Promise.resolve(decodedResponse(reply, request.signal));
    };
    const intercepted = async (request: ApiRequest): Promise<ApiResponse> =>
      (await this.#intercept?.(request)) ?? serve(request);
    return (request) => (this.#intercept === undefined ? serve(request) : intercepted(request));
  }

  get resourceVersion(): string {
    return String(this.#state.store.resourceVersion);
  }

  async listen(options: ListenOptions = {}): Promise<HttpListener> {
    const door: Door = { server: this };
    const clock = { now: () => door.server.#state.clock.now() };
    const listener = await listenHttp(options, (request, connection) => door.server.#enter(request, connection), clock);
    this.#doors.set(door, listener);
    return listener;
  }

  handOver(successor: ApiServer): void {
    if (!(successor instanceof EmbeddedApiServer)) throw new TypeError("no server of this package");
    for (const [door, listener] of this.#doors) {
      door.server = successor;
      successor.#doors.set(door, listener);
    }
    this.#doors.clear();
    this.#state.bookmarks.failAll(expired(HANDED_OVER).status);
  }

  observe(listener: AuditListener): () => void {
    this.#observers.add(listener);
    return () => this.#observers.delete(listener);
  }

  compact(): void {
    this.#state.store.compact();
  }

  snapshot(): StoreSnapshot {
    return this.#state.store.snapshot();
  }

  async close(): Promise<void> {
    this.#state.bookmarks.closeAll();
    await Promise.all([...this.#doors.values()].map((listener) => listener.close()));
    this.#doors.clear();
  }

  /** Serves what came over a listener. */
  async #enter(request: ApiRequest, { host, ...connection }: HttpConnection): Promise<Reply | ApiResponse> {
    const fault = this.#intercept === undefined ? undefined : await this.#intercept(request);
    return fault ?? (await this.#serve(request, host, { type: "connection", ...connection }));
  }

  #serve(request: ApiRequest, host: string, caller: Caller): Reply | Promise<Reply> {
    const exchange: Exchange = {
      request,
      userAgent: headerText(request.headers["user-agent"]),
      startedMs: this.#observers.size > 0 ? this.#state.clock.monotonic() : 0,
      warnings: [],
      info: undefined,
      route: undefined,
      user: undefined,
    };
    let reply: Reply | Promise<Reply>;
    try {
      reply = this.#answer(exchange, host, caller);
    } catch (error) {
      reply = errorReply(error, this.#onError);
    }
    if (!(reply instanceof Promise)) return this.#finish(exchange, reply);
    return reply.then(
      (later) => this.#finish(exchange, later),
      (error: unknown) => this.#finish(exchange, errorReply(error, this.#onError)),
    );
  }

  #answer(exchange: Exchange, host: string, caller: Caller): Reply | Promise<Reply> {
    const { request, userAgent, warnings } = exchange;
    const { method } = request;
    const { access, registry } = this.#state;
    const url = parseRequestUrl(request.path);
    if (url === undefined) return BAD_REQUEST_PAGE;
    const query = url.query === "" ? NO_PARAMETERS : new Query(url.query);
    const info = requestInfo(method, url.path, query);
    const found = route(info, registry);
    exchange.info = info;
    exchange.route = found.type;
    const user = access.admit(request, info, caller);
    exchange.user = user;
    const handler = this.#paths.size === 0 ? undefined : this.#paths.get(info.path);
    if (handler !== undefined) return servePath(handler, request, caller);
    if (found.type !== "resource") return this.#serveOther(request, info.path, query, found, host);
    const { target } = found;
    const verb = servedVerb(method, info, target);
    checkTimeout(query);
    const { accept } = request.headers;
    const negotiated = negotiate(accept, true, verb === "watch");
    if (negotiated === undefined) {
      if (asksForShape(accept)) throw shapeNotAcceptable(MEDIA_TYPES);
      const isCollection = info.depth === 1 && method === "GET";
      throw notAcceptable(isCollection ? [...MEDIA_TYPES, "application/json;stream=watch"] : MEDIA_TYPES);
    }
    if (info.depth > 1) checkName(target.name);
    if (target.resource.custom !== undefined) warnings.push(...target.resource.custom.warnings);
    const { transform } = negotiated;
    const call: ApiCall = {
      server: this.#state,
      request,
      target,
      verb,
      query,
      userAgent,
      user,
      transform,
      warnings,
      newBytes: 0,
    };
    if (caller.type === "known" || READS.has(verb)) return dispatch(call);
    return withBody(request, caller).then((whole) => dispatch({ ...call, request: whole }));
  }

  #finish(exchange: Exchange, reply: Reply): Reply {
    const { warnings } = exchange;
    const answer =
      warnings.length === 0 ? reply : { ...reply, headers: { ...reply.headers, warning: warningHeaders(warnings) } };
    if (this.#observers.size > 0) this.#report(exchange, answer.status);
    return answer;
  }

  #serveOther(request: ApiRequest, path: string, query: Query, found: Route, host: string): Reply | Promise<Reply> {
    if (found.type === "unknownResource") {
      // Custom resources have a handler of their own behind the router.
      if (found.resource?.custom !== undefined) throw notFound(found.resource, found.name ?? "");
      if (this.#state.registry.isCustomGroup(found.group)) return NOT_FOUND_PAGE;
      throw noSuchResource();
    }
    if (
      negotiate(request.headers["accept"], false) === undefined &&
      path.startsWith("/api") &&
      !headerText(request.headers["accept"]).includes("as=")
    ) {
      throw notAcceptable(MEDIA_TYPES);
    }
    const document = this.#discovery.serve(path, request.headers, host);
    if (document !== undefined) return document;
    if (path.startsWith("/openapi/"))
      return this.#openApi.serve(path, query, request.headers).then((description) => description ?? NOT_FOUND_PAGE);
    if (this.#isMissingVersion(path)) throw noSuchResource();
    return serveNonResource(path, query, this.#version) ?? NOT_FOUND_PAGE;
  }

  /** A version of a registered group that is not served. */
  #isMissingVersion(path: string): boolean {
    const [root, group = "", version] = pathParts(path);
    if (root === "api") return group !== "";
    return root === "apis" && group !== "" && version !== undefined && this.#state.registry.groups.has(group);
  }

  #report({ request, info, route, userAgent, user, startedMs }: Exchange, code: number): void {
    const record = {
      verb: info?.verb ?? request.method.toLowerCase(),
      ...((route === "resource" ? info?.resource : undefined) ?? NO_RESOURCE),
      path: request.path,
      code,
      userAgent,
      user: user?.username ?? "",
      atMs: this.#state.clock.now(),
      durationMs: this.#state.clock.monotonic() - startedMs,
    };
    for (const observer of this.#observers) observer(record);
  }

  #startHousekeeping(): void {
    const { clock, registry, namespaces } = this.#state;
    const expiring = new Set<ResourceStorage>();
    for (const { storage, timeToLiveMs } of registry.all()) {
      // Two APIs may show the same objects.
      if (timeToLiveMs === undefined || expiring.has(storage)) continue;
      expiring.add(storage);
      ObjectExpiry.start({ clock, storage, timeToLiveMs });
    }
    if (namespaces === undefined) return;
    const emptier = new NamespaceEmptier({ clock, registry, namespaces: namespaces.storage });
    for (const resource of registry.all())
      if (resource.namespaced && resource.view === undefined) emptier.watch(resource.storage);
    const definitions = registry.find("apiextensions.k8s.io", "v1", "customresourcedefinitions");
    if (definitions === undefined) return;
    const { store, schemas } = this.#state;
    DefinitionRegistrar.start({
      clock,
      store,
      registry,
      schemas,
      definitions: definitions.storage,
      onStorage: (storage) => emptier.watch(storage),
    });
  }

  #furnish(): void {
    const { clock, registry, namespaces } = this.#state;
    this.#createInitially("", "services", KUBERNETES_SERVICE, "default");
    const accounts = registry.find("", "v1", "serviceaccounts");
    if (namespaces === undefined || accounts === undefined) return;
    const create = (namespace: string): void => {
      const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: DEFAULT_ACCOUNT } };
      this.#createInitially("", "serviceaccounts", account, namespace, "kube-controller-manager");
    };
    new DefaultAccounts({ clock, namespaces: namespaces.storage, accounts: accounts.storage, create });
  }

  /** One that is there already, from an earlier server, stays as it is. */
  #createInitially(
    group: string,
    resource: string,
    value: KubernetesObject,
    namespace = "",
    userAgent = "kube-apiserver",
  ): void {
    if (this.#state.registry.find(group, "v1", resource) === undefined) return;
    const root = group === "" ? "/api/v1" : `/apis/${group}/v1`;
    const path = `${root}${namespace === "" ? "" : `/namespaces/${namespace}`}/${resource}`;
    const headers = { "user-agent": userAgent };
    const body = { type: "decoded", value } as const;
    void this.#serve({ method: "POST", path, headers, body }, "", { type: "known", user: LOOPBACK });
  }
}

/** @throws Error when a token file or key cannot be read, or RBAC has no roles to go by. */
function accessControl(options: ApiServerOptions, registry: ResourceRegistry): AccessControl {
  const { clock, authentication, authorization = "AlwaysAllow" } = options;
  const random = options.random.fork("service-account-tokens");
  // Where callers are told apart, a key that follows from a seed would let anybody be anybody.
  const key = authentication?.serviceAccountKey ?? drawSecret(authentication === undefined ? random : realRandom);
  const issuer = authentication?.serviceAccountIssuer ?? DEFAULT_ISSUER;
  const serviceAccounts = new ServiceAccountTokens({ signer: new TokenSigner(key), clock, random, registry, issuer });
  return new AccessControl({
    authenticator: new Authenticator(authentication, serviceAccounts),
    serviceAccounts,
    authorizer:
      authorization === "AlwaysAllow"
        ? undefined
        : authorization === "RBAC"
          ? rbacAuthorizer(registry)
          : authorizerOf(authorization),
  });
}

/** Those of the caller, then those of the kinds, of which several may have the same. */
function admissionPlugins(
  given: readonly AdmissionPlugin[] = [],
  resources: readonly BuiltInResource[],
): readonly AdmissionPlugin[] {
  return [...new Set([...given, ...resources.flatMap(({ admission }) => admission ?? [])])];
}

function drawSecret(random: Random): Uint8Array {
  return new Uint8Array(Uint32Array.from({ length: 8 }, () => random.uint32()).buffer);
}

function rbacAuthorizer(registry: ResourceRegistry): RbacAuthorizer {
  const storage = (resource: string): ResourceStorage => {
    const found = registry.find("rbac.authorization.k8s.io", "v1", resource);
    if (found === undefined)
      throw new Error(`authorization RBAC needs the resource ${resource}: add it to \`resources\`, or leave that out`);
    return found.storage;
  };
  return new RbacAuthorizer({
    roles: storage("roles"),
    clusterRoles: storage("clusterroles"),
    roleBindings: storage("rolebindings"),
    clusterRoleBindings: storage("clusterrolebindings"),
  });
}

/** Those whose bodies nobody looks at. */
const READS: ReadonlySet<string> = new Set(["get", "list", "watch"]);

/** The request with the body that its connection still holds back. */
async function withBody(
  request: ApiRequest,
  { readBody }: Extract<Caller, { type: "connection" }>,
): Promise<ApiRequest> {
  const bytes = await readBody();
  return bytes === undefined ? request : { ...request, body: { type: "bytes", bytes } };
}

async function servePath(handler: PathHandler, request: ApiRequest, caller: Caller): Promise<Reply> {
  const reads = request.method === "GET" || request.method === "HEAD";
  const whole = caller.type === "known" || reads ? request : await withBody(request, caller);
  if (whole.body?.type === "bytes") checkBodyLength(whole.body.bytes);
  const { status, text, contentType, headers } = await handler(whole);
  return textReply(status, text, contentType, { ...NO_SNIFFING, ...headers });
}

function headerText(header: HeaderFields[string] | undefined): string {
  return header === undefined ? "" : typeof header === "string" ? header : header.join(", ");
}

/** @throws ApiError 400 for a name that nothing can have. Upstream: `registry.NamespaceKeyFunc`. */
function checkName(name: string): void {
  const errors = pathSegmentErrors(name);
  if (errors.length > 0) throw badRequest(`Name parameter invalid: ${JSON.stringify(name)}: ${errors.join(";")}`);
}

/** @throws ApiError 400 for a `timeout` that is no duration. */
function checkTimeout(query: Query): void {
  if (query.isEmpty) return;
  const timeout = query.get("timeout");
  if (timeout !== undefined && timeout !== "" && parseGoDuration(timeout) === undefined) {
    throw badRequest(
      `invalid timeout specified in the request URL - time: invalid duration ${JSON.stringify(timeout)}`,
    );
  }
}

function errorReply(error: unknown, onError: (error: unknown) => void): Reply {
  if (error instanceof RequestTimeout) return error.reply;
  if (error instanceof ApiError) return valueReply(error.status.code, error.status, error.headers);
  onError(error);
  const { status } = internalError(error instanceof Error ? error.message : String(error));
  return valueReply(status.code, status);
}
