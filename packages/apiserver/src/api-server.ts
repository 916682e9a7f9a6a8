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
import type { ApiRequest, ApiResponse, Transport } from "@kubewright/transport";

import type { Caller } from "./access-control.js";
import { expired } from "./api-error.js";
import type { ApiServerOptions } from "./api-server-options.js";
import type { AuditListener } from "./audit.js";
import { withAuthenticatedGroup } from "./authentication/authenticator.js";
import { MASTERS_GROUP, type UserInfo } from "./authorization/authorizer.js";
import { bootstrapPolicy } from "./authorization/bootstrap-policy.js";
import type { Connection, Listener } from "./connection.js";
import { decodedResponse } from "./decoded-response.js";
import { createSystemObjects } from "./system-objects.js";
import { startBackgroundTasks } from "./background-tasks.js";
import { systemPriorityClasses } from "./kinds/priority-class/system-classes.js";
import { makeServerState } from "./make-server-state.js";
import { ControllerManagerBehaviours } from "./controller-manager-behaviours.js";
import type { Reply } from "./reply.js";
import { versionInfo } from "./non-resource.js";
import { InternalClient } from "./internal-client.js";
import { RequestServer } from "./request-server.js";
import type { ServerState } from "./server-state.js";
import type { StoreSnapshot } from "./storage/store.js";

/** A Kubernetes API server in this process. */
export interface ApiServer {
  /** Serves requests in process: decoded objects in and out. Its user is `system:apiserver`, who may do everything. */
  readonly transport: Transport;
  /** The same as somebody else, who may do what the authorizer says. */
  transportAs(user: Omit<UserInfo, "groups"> & { readonly groups?: readonly string[] }): Transport;
  /** A way in for connections, until the server is closed, and then closed: what `listen` of `@kubewright/apiserver/http` asks for. */
  open(close: () => Promise<void>): Listener;
  /** The version of the latest write. */
  readonly resourceVersion: string;
  /** Calls back for every request once it is answered; a watch counts when it opens. Answers how to stop that. */
  observe(listener: AuditListener): () => void;
  /**
   * Calls back for every change of what is stored, whoever made it, in the order of the changes and within the step that makes
   * it. Answers how to stop that.
   */
  follow(listener: (change: StoreChange) => void): () => void;
  /** Forgets the history of changes, as etcd's compaction does: older watches and lists get 410. */
  compact(): void;
  /**
   * Another server of this package answers from now on, behind the doors of this one, and closes them in its place. Open
   * watches end as after a compaction, with 410; requests under way are still answered here.
   */
  handOver(successor: ApiServer): void;
  /** All that is stored, as JSON data that shares with the server: do not change it. */
  snapshot(): StoreSnapshot;
  /** Ends open watches, and closes the doors. */
  close(): Promise<void>;
}

/** One change of what is stored. Objects are shared with the server, as they are stored. */
export interface StoreChange {
  readonly group: string;
  /** Plural. */
  readonly resource: string;
  readonly resourceVersion: number;
  /** Absent when it was removed. */
  readonly current: DeepReadonly<KubernetesObject> | undefined;
  /** Absent when it was added. */
  readonly previous: DeepReadonly<KubernetesObject> | undefined;
}

/** Makes a server with the namespaces every cluster begins with. */
export function createApiServer(options: ApiServerOptions): ApiServer {
  return new EmbeddedApiServer(options);
}

/** Whoever calls in process, unless they say otherwise. */
const LOOPBACK: UserInfo = { username: "system:apiserver", groups: [MASTERS_GROUP, "system:authenticated"] };

/** As a watch that is too old is told. Upstream: apiserver `pkg/storage/etcd3` watcher. */
const WATCH_TOO_OLD = "The resourceVersion for the provided watch is too old.";

/** A door, and who is behind it. */
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

  transportAs(user: Omit<UserInfo, "groups"> & { readonly groups?: readonly string[] }): Transport {
    const caller: Caller = { type: "known", user: withAuthenticatedGroup({ ...user, groups: user.groups ?? [] }) };
    const serve = (request: ApiRequest): Promise<ApiResponse> => {
      const reply = this.#requests.serve(request, "", caller);
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

  open(close: () => Promise<void>): Listener {
    const listener = new OpenListener(this, close);
    this.#listeners.add(listener);
    return listener;
  }

  now(): number {
    return this.#state.clock.now();
  }

  /** Serves what came through a door. */
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
