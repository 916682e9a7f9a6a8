import type { KubernetesVersion } from "@kubewright/api";
import type { Clock, Random } from "@kubewright/clock";
import type { ApiRequest, ApiResponse, HeaderFields } from "@kubewright/transport";

import type { WebhookCaller } from "./webhooks/webhook-call.js";
import type { AuthenticationOptions } from "./authentication/authenticator.js";
import type { Authorizer } from "./authorization/authorizer.js";
import type { BuiltInResource } from "./built-in-resource.js";
import type { ContainerLogs } from "./container-logs.js";
import type { ServerFeatureGates } from "./feature-gates.js";
import type { VersionInfo } from "./non-resource.js";
import type { AdmissionPlugin } from "./registry/admission.js";
import type { ShardMetrics } from "./shard-metrics.js";
import type { StoreSnapshot } from "./storage/store.js";

export interface ApiServerOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Deep-freezes stored objects, so that a client that writes to one throws. For tests. Default false. */
  readonly freeze?: boolean;
  /** Additional kinds. They replace {@link builtInResources} of the same group, version and plural. */
  readonly resources?: readonly BuiltInResource[];
  /**
   * Milliseconds between progress bookmarks. Sent only to watches that request them, and only after a write. Default
   * 60,000.
   */
  readonly bookmarkIntervalMs?: number;
  /**
   * Maximum number of changes stored per resource, for watches and lists that resume. Default 10,000. The server always
   * stores at least 1,000 changes or 5 minutes of changes.
   */
  readonly historyLimit?: number;
  /**
   * Approximate bytes of stored changes in memory, over all resources. Above the limit the resource with the most bytes
   * forgets its oldest changes, however few they are. Default 64 MiB.
   */
  readonly historyBytes?: number;
  /**
   * Approximate bytes of replaced objects retained for watches and lists whose clients do not read. Above the limit the
   * reader that is furthest behind is cut off. Default 64 MiB.
   */
  readonly backlogBytes?: number;
  /**
   * Whether the server creates the objects that a real cluster has besides namespaces. Default false: a test finds only
   * the objects that it created.
   *
   * - the Service `kubernetes`
   * - a ServiceAccount `default` in every namespace
   * - RBAC's default roles and bindings, whatever the authorization mode
   */
  readonly createDefaultObjects?: boolean;
  /**
   * Whether the server runs the parts of kube-controller-manager that its own objects require. Default false:
   * controllers of these objects then run without interference.
   *
   * - ResourceQuotas are counted from their creation, and deleted objects are subtracted.
   * - Deleted PersistentVolumeClaims and PersistentVolumes are removed when no object uses them.
   * - ClusterRoles are aggregated.
   * - Expressions of ValidatingAdmissionPolicies are type-checked for the status.
   */
  readonly managed?: boolean;
  /**
   * The authority of the server's certificate, in PEM. A server with `createDefaultObjects` and `managed` publishes it
   * in a ConfigMap `kube-root-ca.crt` in every namespace. Default: none.
   */
  readonly rootCA?: string;
  /** Starts with the snapshot of an earlier server. resourceVersions continue from the snapshot's. */
  readonly restore?: StoreSnapshot;
  /** The Kubernetes release whose behaviour the server follows and whose version it reports. Default: the newest. */
  readonly kubernetesVersion?: KubernetesVersion;
  /** Feature gates. Default: as in kube-apiserver. */
  readonly featureGates?: ServerFeatureGates;
  /**
   * Whether watches behave as from kube-apiserver's watch cache (`--watch-cache`), except watches of Events. A watch
   * without the cache ignores a shard selector unless it has another selector. Default true.
   */
  readonly watchCache?: boolean;
  /** Receives measurements of watches with a shard selector. Default: none. */
  readonly shardMetrics?: ShardMetrics;
  /** Replaces the answer of `/version`. */
  readonly version?: VersionInfo;
  /** Whether the server maintains `metadata.managedFields`. Default true. */
  readonly trackFields?: boolean;
  /**
   * Authentication of connections. Default: no credentials are required; a client without known credentials is
   * `system:anonymous`.
   */
  readonly authentication?: AuthenticationOptions;
  /**
   * Authorization mode. `RBAC` uses the stored roles and bindings, and starts with `cluster-admin` and the roles that
   * clients need for discovery. A function decides by itself. Default `AlwaysAllow`.
   */
  readonly authorization?: "AlwaysAllow" | "RBAC" | Authorizer["authorize"];
  /**
   * Whether pods may have privileged containers. No containers run here that could do harm. `false` is kube-apiserver's
   * default for `--allow-privileged`, which clusters enable. Default true.
   */
  readonly allowPrivileged?: boolean;
  /** Reads container logs. Default: no containers run, and `pods/log` answers accordingly. */
  readonly containerLogs?: ContainerLogs;
  /**
   * Admission plugins, called in this order before every write and before the plugins of built-in kinds. Default: none.
   */
  readonly admission?: readonly AdmissionPlugin[];
  /**
   * Calls the webhooks of WebhookConfigurations: `callWebhook` of `@kubewright/apiserver/http`, which sends written
   * objects to the configured URL, or `inProcessWebhooks`. Default: no webhook is called, whatever is configured.
   */
  readonly webhooks?: WebhookCaller;
  /**
   * Runs before every request and may answer it or delay it. For fault injection. A request from a listener has no body
   * yet.
   */
  readonly intercept?: (request: ApiRequest) => ApiResponse | undefined | Promise<ApiResponse | undefined>;
  /**
   * Additional paths, matched exactly. Clients need permission for them, as for any path outside the Kubernetes API.
   * Responses carry `X-Content-Type-Options: nosniff`, so that browsers use the given content type.
   */
  readonly paths?: Readonly<Record<string, PathHandler>>;
  /**
   * Called on an internal failure of the server. The client receives only a 500 with the message. Default: logs to
   * standard error.
   */
  readonly onError?: (error: unknown) => void;
}

/** Handler of a path outside the Kubernetes API. */
export type PathHandler = (request: ApiRequest) => Promise<PathResponse>;

export interface PathResponse {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
  readonly headers?: HeaderFields;
}
