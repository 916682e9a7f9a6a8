import {
  NEWEST_VERSION,
  type ResourceDefinition,
  apiVersionOf,
  behavioursOf,
  leases,
  mutatingWebhookConfigurations,
  validatingAdmissionPolicies,
  validatingAdmissionPolicyBindings,
  validatingWebhookConfigurations,
} from "@kubewright/api";
import { type Random, realRandom } from "@kubewright/clock";

import { AdmissionPolicies } from "./admission/policies.js";
import { type WebhookOptions, mutatingWebhooks, validatingWebhooks } from "./admission/webhooks.js";
import { AccessControl } from "./access-control.js";
import type { ApiServerOptions } from "./api-server-options.js";
import { Authenticator } from "./authentication/authenticator.js";
import { TokenSigner } from "./authentication/json-web-token.js";
import { DEFAULT_ISSUER, ServiceAccountTokens } from "./authentication/service-account-tokens.js";
import { authorizerFrom } from "./authorization/authorizer.js";
import { RbacAuthorizer } from "./authorization/rbac-authorizer.js";
import { BookmarkClock } from "./bookmark-clock.js";
import type { BuiltInResource } from "./built-in-resource.js";
import { defaultFeatureGates } from "./feature-gates.js";
import { ManagerReader } from "./fields/managers.js";
import { NewObjectFields } from "./fields/new-object-fields.js";
import { builtInResources } from "./kinds/index.js";
import { LeaseRenewals } from "./lease-renewals.js";
import { QuotaUsage } from "./kinds/resource-quota/quota-usage.js";
import { Admission, type AdmissionPlugin } from "./registry/admission.js";
import { ResourceRegistry } from "./resource-registry.js";
import { BuiltInSchemas } from "./schema/built-in-schemas.js";
import { serveBuiltIn } from "./serve-built-in.js";
import type { ServerState } from "./server-state.js";
import type { ResourceStorage } from "./storage/resource-storage.js";
import { Store } from "./storage/store.js";
import { virtualResources } from "./virtual-resources.js";
import { WatchConversionCache } from "./watch-conversion-cache.js";

const DEFAULT_HISTORY_BYTES = 64 * 1024 * 1024;
const DEFAULT_BACKLOG_BYTES = 64 * 1024 * 1024;

/**
 * Creates the state of a server from its options.
 *
 * @throws Error when a token file or key cannot be read.
 */
export function makeServerState(options: ApiServerOptions): ServerState {
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
  const resources = mergeResources(builtInResources(behaviours), options.resources);
  const schemas = new BuiltInSchemas(resources.flatMap(({ types }) => types ?? []));
  const registry = new ResourceRegistry();
  for (const resource of resources) registry.add(serveBuiltIn(resource, store, schemas));
  for (const resource of virtualResources(store, schemas)) registry.add(resource);
  const ended = new AbortController();
  const plugins = [...(options.admission ?? []), ...resources.flatMap(({ admission }) => admission ?? [])];
  return {
    clock,
    random: options.random.fork("apiserver"),
    access: accessControl(options, registry),
    admission: new Admission(
      orderPlugins(plugins, [policiesOf(registry), ...webhooksOf(options, registry, ended.signal)]),
    ),
    ended,
    conversions: { call: options.webhooks, random: options.random.fork("conversions"), registry, signal: ended.signal },
    quotas: QuotaUsage.start({
      clock,
      registry,
      quotas: registry.find("", "v1", "resourcequotas")!.storage,
      recounts: options.managed ?? false,
    }),
    store,
    registry,
    namespaces: registry.find("", "v1", "namespaces")!,
    schemas,
    tracksFields: options.trackFields ?? true,
    allowsPrivileged: options.allowPrivileged ?? true,
    containerLogs: options.containerLogs,
    managers: new ManagerReader(),
    newObjectFields: new NewObjectFields(),
    watchConversions: new WatchConversionCache(),
    leaseRenewals: leaseRenewalsOf(store, registry),
    bookmarks: new BookmarkClock({ clock, store, intervalMs: options.bookmarkIntervalMs ?? 60_000 }),
    hasDefaultObjects: options.createDefaultObjects ?? false,
    behaviours,
    featureGates: { ...defaultFeatureGates, ...options.featureGates },
    watchCache: options.watchCache ?? true,
    shardMetrics: options.shardMetrics,
  };
}

/** @throws Error when a token file or key cannot be read. */
function accessControl(options: ApiServerOptions, registry: ResourceRegistry): AccessControl {
  const { clock, authentication, authorization = "AlwaysAllow" } = options;
  const random = options.random.fork("service-account-tokens");
  // With authentication, a key derived from the seed would allow any client to forge tokens.
  const key = authentication?.serviceAccountKey ?? randomSecret(authentication === undefined ? random : realRandom);
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
          : authorizerFrom(authorization),
  });
}

function mergeResources(
  known: readonly BuiltInResource[],
  own: readonly BuiltInResource[] = [],
): readonly BuiltInResource[] {
  const replaced = new Set(own.map(resourceKey));
  return [...known.filter((resource) => !replaced.has(resourceKey(resource))), ...own];
}

function resourceKey({ definition }: BuiltInResource): string {
  return `${apiVersionOf(definition)}/${definition.resource}`;
}

/**
 * Orders the plugins: those of the caller, those of the kinds (several kinds may share one), configured webhooks and
 * policies, then plugins with `isLast`. Upstream: `AllOrderedPlugins` of `pkg/kubeapiserver/options`.
 */
function orderPlugins(
  plugins: readonly AdmissionPlugin[],
  configured: readonly AdmissionPlugin[],
): readonly AdmissionPlugin[] {
  const known = [...new Set(plugins)];
  return [
    ...known.filter(({ isLast }) => isLast !== true),
    ...configured,
    ...known.filter(({ isLast }) => isLast === true),
  ];
}

function leaseRenewalsOf(store: Store, registry: ResourceRegistry): LeaseRenewals {
  const storage = ({ group, version, resource }: ResourceDefinition): ResourceStorage =>
    registry.find(group, version, resource)!.storage;
  const admission = [
    mutatingWebhookConfigurations,
    validatingWebhookConfigurations,
    validatingAdmissionPolicies,
    validatingAdmissionPolicyBindings,
  ];
  return new LeaseRenewals({ store, leases: storage(leases), admission: admission.map(storage) });
}

function policiesOf(registry: ResourceRegistry): AdmissionPlugin {
  const storage = ({ group, version, resource }: ResourceDefinition): ResourceStorage =>
    registry.find(group, version, resource)!.storage;
  return new AdmissionPolicies(storage(validatingAdmissionPolicies), storage(validatingAdmissionPolicyBindings));
}

/** Returns the webhook plugins; none without a webhook caller. */
function webhooksOf(
  { webhooks: call, random }: ApiServerOptions,
  registry: ResourceRegistry,
  signal: AbortSignal,
): readonly AdmissionPlugin[] {
  if (call === undefined) return [];
  const optionsFor = ({ group, version, resource }: ResourceDefinition): WebhookOptions => {
    const configurations = registry.find(group, version, resource)!.storage;
    return { configurations, call, random: random.fork(resource), signal };
  };
  const mutating = optionsFor(mutatingWebhookConfigurations);
  return [mutatingWebhooks(mutating), validatingWebhooks(optionsFor(validatingWebhookConfigurations), mutating)];
}

function randomSecret(random: Random): Uint8Array {
  return new Uint8Array(Uint32Array.from({ length: 8 }, () => random.uint32()).buffer);
}

function rbacAuthorizer(registry: ResourceRegistry): RbacAuthorizer {
  const storage = (resource: string): ResourceStorage =>
    registry.find("rbac.authorization.k8s.io", "v1", resource)!.storage;
  return new RbacAuthorizer({
    roles: storage("roles"),
    clusterRoles: storage("clusterroles"),
    roleBindings: storage("rolebindings"),
    clusterRoleBindings: storage("clusterrolebindings"),
  });
}
