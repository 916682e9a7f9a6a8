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
  /** Deep-freezes what is stored, so that a client that writes to it throws. For tests; default false. */
  readonly freeze?: boolean;
  /** Kinds besides {@link builtInResources}, or in place of those of the same group, version and plural. */
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
  readonly createDefaultObjects?: boolean;
  /**
   * Whether the server does what little of kube-controller-manager its own objects cannot do without: ResourceQuotas are counted
   * for from the moment they are made, and what goes is taken off; deleted claims and volumes go when nobody uses them;
   * ClusterRoles are aggregated, and expressions of ValidatingAdmissionPolicies checked for their status.
   * Default false: who has a controller for these has them to himself.
   */
  readonly managed?: boolean;
  /**
   * The authority that the server's certificate is of, PEM. A server that is furnished and managed keeps it in a ConfigMap
   * `kube-root-ca.crt` of every namespace. Default: there is none.
   */
  readonly rootCA?: string;
  /** Begins with what an earlier server kept; resourceVersions go on from there. */
  readonly restore?: StoreSnapshot;
  /** The release whose rules it keeps, and calls itself. Default: the newest. */
  readonly kubernetesVersion?: KubernetesVersion;
  /** Features to switch on or off. Default: as in kube-apiserver. */
  readonly featureGates?: ServerFeatureGates;
  /**
   * Whether watches are as if they came from kube-apiserver's watch cache (`--watch-cache`), as all but those of Events do. One
   * that does not is not filtered by a shard selector unless it has another selector, too. Default true.
   */
  readonly watchCache?: boolean;
  /** Told of the watches of shards. Default: nobody is. */
  readonly shardMetrics?: ShardMetrics;
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
  /**
   * Whether pods may have privileged containers. Nothing runs here that they could harm; `false` is kube-apiserver's default
   * for `--allow-privileged`, which clusters set. Default true.
   */
  readonly allowPrivileged?: boolean;
  /** Reads what containers write. Default: none are run, and `pods/log` says so. */
  readonly containerLogs?: ContainerLogs;
  /** Asked before anything is written, in this order, and before what the server's own kinds ask for. Default: none. */
  readonly admission?: readonly AdmissionPlugin[];
  /**
   * Calls the webhooks of WebhookConfigurations: `callWebhook` of `@kubewright/apiserver/http`, which sends what is written to
   * wherever a configuration says, or `inProcessWebhooks`. Default: nobody is called, whatever is configured.
   */
  readonly webhooks?: WebhookCaller;
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
export type PathHandler = (request: ApiRequest) => Promise<PathResponse>;

export interface PathResponse {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
  readonly headers?: HeaderFields;
}
