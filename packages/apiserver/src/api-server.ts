import {
  type DeepReadonly,
  type KubernetesObject,
  NEWEST_VERSION,
  clusterRoleBindings,
  clusterRoles,
  gitVersionOf,
  priorityClasses,
} from "@kubewright/api";
import { standardErrorLogger } from "@kubewright/clock";
import { type ApiRequest, type ApiResponse, type Transport, jsonData } from "@kubewright/transport";

import type { Caller } from "./access-control.js";
import { expired } from "./api-error.js";
import type { ApiServerOptions } from "./api-server-options.js";
import type { AuditListener } from "./audit.js";
import { withAuthenticatedGroup } from "./authentication/authenticator.js";
import { MASTERS_GROUP, type RequestUser } from "./authorization/authorizer.js";
import { bootstrapPolicy } from "./authorization/bootstrap-policy.js";
import type { Connection, Listener } from "./connection.js";
import { decodedResponse } from "./decoded-response.js";
import { createSystemObjects } from "./system-objects.js";
import { startBackgroundTasks } from "./background-tasks.js";
import { systemPriorityClasses } from "./kinds/priority-class/system-classes.js";
import { makeServerState } from "./make-server-state.js";
import { ControllerManagerBehaviours } from "./controller-manager-behaviours.js";
import type { LeaseRenewals } from "./lease-renewals.js";
import type { Reply } from "./reply.js";
import { versionInfo } from "./non-resource.js";
import { InternalClient } from "./internal-client.js";
import { RequestServer } from "./request-server.js";
import type { ServerState } from "./server-state.js";
import type { StoreSnapshot } from "./storage/store.js";

/** An in-process Kubernetes API server. */
export interface ApiServer {
  /** Serves in-process requests with decoded objects. The user is `system:apiserver`, which may do everything. */
  readonly transport: Transport;
  /** Returns a transport for another user, subject to the authorizer. */
  transportAs(user: Omit<RequestUser, "groups"> & { readonly groups?: readonly string[] }): Transport;
  /**
   * Registers a listener and returns the server's side of it. The server calls `close` when it closes. Used by `listen`
   * of `@kubewright/apiserver/http`.
   */
  open(close: () => Promise<void>): Listener;
  /** resourceVersion of the latest write. */
  readonly resourceVersion: string;
  /**
   * Calls the listener after every request; for a watch, when it opens. Returns a function that removes the listener.
   */
  observe(listener: AuditListener): () => void;
  /**
   * Calls the listener for every change of a stored object, in order, synchronously with the write. Returns a function
   * that removes the listener. A listener does not observe Leases: deferred renewals are reported when they are stored.
   */
  follow(listener: (change: StoreChange) => void): () => void;
  /** Defers renewals of Leases by leaders in this process. For simulated time, in which renewals are most of the work. */
  readonly leaseRenewals: Pick<LeaseRenewals, "defer" | "endAll">;
  /** Forgets the history of changes, as etcd's compaction does. Older watches and lists get 410. */
  compact(): void;
  /**
   * Hands the listeners to another server of this package, which answers from then on and closes them. Open watches end
   * with 410, as after a compaction. This server still answers requests in progress.
   */
  handOver(successor: ApiServer): void;
  /** Returns all stored objects as JSON data. The data is shared with the server: do not change it. */
  snapshot(): StoreSnapshot;
  /** Ends open watches and closes the listeners. */
  close(): Promise<void>;
}

/** One change of a stored object. Objects are shared with the server. */
export interface StoreChange {
  readonly group: string;
  /** Plural. */
  readonly resource: string;
  readonly resourceVersion: number;
  /** Absent when the object was deleted. */
  readonly current: DeepReadonly<KubernetesObject> | undefined;
  /** Absent when the object was created. */
  readonly previous: DeepReadonly<KubernetesObject> | undefined;
}

/** Creates a server with the namespaces that every cluster starts with. */
export function createApiServer(options: ApiServerOptions): ApiServer {
  return new EmbeddedApiServer(options);
}

/** User of in-process requests by default. */
const LOOPBACK: RequestUser = { username: "system:apiserver", groups: [MASTERS_GROUP, "system:authenticated"] };

/** Error for watches that end at a handover. Upstream: apiserver `pkg/storage/etcd3` watcher. */
const WATCH_TOO_OLD = "The resourceVersion for the provided watch is too old.";

/** A registered listener and the server that answers its requests. */
class OpenListener implements Listener {
  constructor(
    public server: EmbeddedApiServer,
    readonly close: () => Promise<void>,
  ) {}

  readonly answer: Listener["answer"] = (request, connection) => this.server.serveConnection(request, connection);
  readonly now = (): number => this.server.now();
}

class EmbeddedApiServer implements ApiServer {
  readonly #state: ServerState;
  readonly #requests: RequestServer;
  readonly #intercept: ApiServerOptions["intercept"];
  readonly #listeners = new Set<OpenListener>();

  constructor(options: ApiServerOptions) {
    const { clock, paths = {} } = options;
    this.#state = makeServerState(options);
    const version = options.version ?? versionInfo(gitVersionOf(options.kubernetesVersion ?? NEWEST_VERSION));
    const logger = standardErrorLogger(clock, "apiserver");
    const onError = options.onError ?? ((error) => logger.error({ err: error }, "API server failed"));
    this.#requests = new RequestServer(this.#state, { version, paths, onError });
    this.#intercept = options.intercept;
    startBackgroundTasks(this.#state);
    const { managed = false, createDefaultObjects = false, rootCA } = options;
    const behaviours = new ControllerManagerBehaviours(this.#state, this.#internalClient("kube-controller-manager"));
    if (managed) {
      behaviours.protectStorage();
      behaviours.checkPolicies();
      behaviours.aggregateRoles();
    }
    const client = this.#internalClient("kube-apiserver");
    createSystemObjects(clock, this.#state.registry, client, createDefaultObjects);
    if (createDefaultObjects) {
      for (const systemClass of systemPriorityClasses) client.create(priorityClasses, systemClass);
      behaviours.createDefaultServiceAccounts();
      if (managed && rootCA !== undefined) behaviours.publishRootCA(rootCA);
    }
    if (createDefaultObjects || options.authorization === "RBAC")
      for (const policy of bootstrapPolicy())
        client.create(policy.kind === clusterRoles.kind ? clusterRoles : clusterRoleBindings, policy);
  }

  readonly transport: Transport = this.transportAs(LOOPBACK);

  transportAs(user: Omit<RequestUser, "groups"> & { readonly groups?: readonly string[] }): Transport {
    const caller: Caller = { type: "known", user: withAuthenticatedGroup({ ...user, groups: user.groups ?? [] }) };
    const serve = (request: ApiRequest): Promise<ApiResponse> => {
      const reply = this.#requests.serve(request, "", caller);
      return reply instanceof Promise
        ? reply.then((later) => decodedResponse(later, request.signal))
        : Promise.resolve(decodedResponse(reply, request.signal));
    };
    const intercepted = async (request: ApiRequest): Promise<ApiResponse> =>
      (await this.#intercept?.(request)) ?? serve(request);
    return (request) => {
      try {
        const checked = withJsonData(request);
        return this.#intercept === undefined ? serve(checked) : intercepted(checked);
      } catch (error) {
        return Promise.reject(error);
      }
    };
  }

  get leaseRenewals(): LeaseRenewals {
    return this.#state.leaseRenewals;
  }

  get resourceVersion(): string {
    return String(this.#state.store.resourceVersion);
  }

  open(close: () => Promise<void>): Listener {
    const listener = new OpenListener(this, close);
    this.#listeners.add(listener);
    return listener;
  }

  now(): number {
    return this.#state.clock.now();
  }

  /** Serves a request of a listener. */
  async serveConnection(request: ApiRequest, { host, ...connection }: Connection): Promise<Reply | ApiResponse> {
    const intercepted = this.#intercept === undefined ? undefined : await this.#intercept(request);
    return intercepted ?? (await this.#requests.serve(request, host, { type: "connection", ...connection }));
  }

  handOver(successor: ApiServer): void {
    if (!(successor instanceof EmbeddedApiServer)) throw new TypeError("no server of this package");
    for (const listener of this.#listeners) {
      listener.server = successor;
      successor.#listeners.add(listener);
    }
    this.#listeners.clear();
    this.#state.leaseRenewals.endAll();
    this.#state.ended.abort();
    this.#state.bookmarks.failAll(expired(WATCH_TOO_OLD).status);
  }

  observe(listener: AuditListener): () => void {
    return this.#requests.observe(listener);
  }

  follow(listener: (change: StoreChange) => void): () => void {
    return this.#state.store.follow((key, { resourceVersion, previous, current }) => {
      const [group, resource] = key.split("/") as [string, string];
      listener({ group, resource, resourceVersion, current: current?.object, previous: previous?.object });
    });
  }

  compact(): void {
    this.#state.store.compact();
  }

  snapshot(): StoreSnapshot {
    return this.#state.store.snapshot();
  }

  async close(): Promise<void> {
    this.#state.leaseRenewals.endAll();
    this.#state.ended.abort();
    this.#state.bookmarks.closeAll();
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    await Promise.all(listeners.map((listener) => listener.close()));
  }

  #internalClient(userAgent: string): InternalClient {
    return new InternalClient(
      userAgent,
      (request) => void this.#requests.serve(request, "", { type: "known", user: LOOPBACK }),
    );
  }
}

/** Converts a decoded body to JSON data. A body that is JSON data already is passed on as it is. */
function withJsonData(request: ApiRequest): ApiRequest {
  const { body } = request;
  if (body?.type !== "decoded") return request;
  const value = jsonData(body.value, request);
  return value === body.value ? request : { ...request, body: { type: "decoded", value } };
}
