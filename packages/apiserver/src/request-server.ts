import { pathSegmentErrors } from "@kubewright/api/validation";
import { tryParseGoDuration } from "@kubewright/cron";
import type { ApiRequest, HeaderFields } from "@kubewright/transport";
import { parseRequestUrl } from "@kubewright/transport";

import type { Caller } from "./access-control.js";
import type { ApiCall } from "./api-call.js";
import {
  ApiError,
  badRequest,
  internalError,
  noSuchResource,
  notAcceptable,
  notFound,
  shapeNotAcceptable,
} from "./api-error.js";
import type { PathHandler } from "./api-server-options.js";
import type { AuditListener } from "./audit.js";
import type { RequestUser } from "./authorization/authorizer.js";
import { CONNECTION_CLOSED } from "./connection-closed.js";
import { Discovery, pathParts } from "./discovery.js";
import { dispatch, servedVerb } from "./dispatch.js";
import { type VersionInfo, serveNonResource } from "./non-resource.js";
import { OpenApi } from "./openapi.js";
import { NO_PARAMETERS, Query } from "./query.js";
import { type Reply, textReply, valueReply } from "./reply.js";
import { checkBodyLength } from "./request-body.js";
import { type RequestInfo, type ResourceAttributes, requestInfo } from "./request-info.js";
import { RequestTimeout } from "./request-timeout.js";
import { type Route, route } from "./route.js";
import type { ServerState } from "./server-state.js";
import { asksForShape, negotiate } from "./transform.js";
import { warningHeaders } from "./warning-headers.js";

const NO_SNIFFING = { "x-content-type-options": "nosniff" };
const NOT_FOUND_PAGE = textReply(404, "404 page not found\n", "text/plain; charset=utf-8", NO_SNIFFING);
/** Go's server answers this before authentication. */
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
/** A request and its attributes as far as they are known. */
interface Exchange {
  readonly request: ApiRequest;
  readonly userAgent: string;
  readonly startedMs: number;
  readonly warnings: string[];
  readonly annotations: Map<string, string> | undefined;
  info: RequestInfo | undefined;
  route: Route["type"] | undefined;
  user: RequestUser | undefined;
}

/** Serves requests from arrival to response: authentication, authorization, routing, handler and audit. */
export class RequestServer {
  readonly #state: ServerState;
  readonly #discovery: Discovery;
  readonly #openApi: OpenApi;
  readonly #version: VersionInfo;
  readonly #paths: ReadonlyMap<string, PathHandler>;
  readonly #onError: (error: unknown) => void;
  readonly #observers = new Set<AuditListener>();

  constructor(
    state: ServerState,
    options: {
      readonly version: VersionInfo;
      readonly paths: Readonly<Record<string, PathHandler>>;
      readonly onError: (error: unknown) => void;
    },
  ) {
    this.#state = state;
    this.#discovery = new Discovery(state.registry);
    this.#openApi = new OpenApi(state.registry, state.clock);
    this.#version = options.version;
    this.#paths = new Map(Object.entries(options.paths));
    this.#onError = options.onError;
  }

  observe(listener: AuditListener): () => void {
    this.#observers.add(listener);
    return () => this.#observers.delete(listener);
  }

  /** @param host - Host of the request, for documents that contain it; `""` for in-process requests. */
  serve(request: ApiRequest, host: string, caller: Caller): Reply | Promise<Reply> {
    const exchange: Exchange = {
      request,
      userAgent: headerText(request.headers["user-agent"]),
      startedMs: this.#observers.size > 0 ? this.#state.clock.monotonic() : 0,
      warnings: [],
      annotations: this.#observers.size > 0 ? new Map() : undefined,
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
    const { request, userAgent, warnings, annotations } = exchange;
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
    warnings.push(...target.resource.warnings);
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
      annotations,
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
      // Upstream serves custom resources with a separate handler behind the router.
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

  /** Whether the path is a version of a registered group that is not served. */
  #isMissingVersion(path: string): boolean {
    const [root, group = "", version] = pathParts(path);
    if (root === "api") return group !== "";
    return root === "apis" && group !== "" && version !== undefined && this.#state.registry.groups.has(group);
  }

  #report({ request, info, route, userAgent, user, startedMs, annotations }: Exchange, code: number): void {
    const record = {
      verb: info?.verb ?? request.method.toLowerCase(),
      ...((route === "resource" ? info?.resource : undefined) ?? NO_RESOURCE),
      path: request.path,
      code,
      userAgent,
      user: user?.username ?? "",
      atMs: this.#state.clock.now(),
      durationMs: this.#state.clock.monotonic() - startedMs,
      ...(annotations === undefined || annotations.size === 0 ? {} : { annotations: Object.fromEntries(annotations) }),
    };
    for (const observer of this.#observers) observer(record);
  }
}

/** Verbs whose request body is ignored. */
const READS: ReadonlySet<string> = new Set(["get", "list", "watch"]);

/** Returns the request with its body, read from the connection. */
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

/** @throws ApiError 400 for an invalid name. Upstream: `registry.NamespaceKeyFunc`. */
function checkName(name: string): void {
  const errors = pathSegmentErrors(name);
  if (errors.length > 0) throw badRequest(`Name parameter invalid: ${JSON.stringify(name)}: ${errors.join(";")}`);
}

/** @throws ApiError 400 for a `timeout` that is no duration. */
function checkTimeout(query: Query): void {
  if (query.isEmpty) return;
  const timeout = query.get("timeout");
  if (timeout !== undefined && timeout !== "" && tryParseGoDuration(timeout) === undefined) {
    throw badRequest(
      `invalid timeout specified in the request URL - time: invalid duration ${JSON.stringify(timeout)}`,
    );
  }
}

function errorReply(error: unknown, onError: (error: unknown) => void): Reply {
  if (error instanceof RequestTimeout) return error.reply;
  if (error instanceof ApiError) return valueReply(error.status.code, error.status, error.headers);
  if (error !== CONNECTION_CLOSED) onError(error);
  const { status } = internalError(error instanceof Error ? error.message : String(error));
  return valueReply(status.code, status);
}
