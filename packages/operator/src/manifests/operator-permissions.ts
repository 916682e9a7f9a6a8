import {
  type KubernetesObject,
  type ResourceDefinition,
  configMaps,
  customResourceDefinitions,
  definitionKey,
  leases,
  mutatingWebhookConfigurations,
  secrets,
  validatingWebhookConfigurations,
} from "@kubewright/api";

import { type CacheNarrowings, cacheNarrowings } from "../cache-narrowing.js";
import { type EventsApi, eventsResource } from "../event-recording.js";
import type { ControllerDescription, OperatorDescription } from "../operator-description.js";
import { isConversion } from "../webhooks/configurations.js";
import type { Webhook } from "../webhooks/webhook.js";
import type { Permission } from "./permissions.js";
import { READ_VERBS, WRITE_VERBS } from "./verbs.js";

type Definition = ResourceDefinition<KubernetesObject>;

/** Permissions that the controllers of an operator need. */
export function controllerPermissions({
  controllers,
  options,
}: Pick<OperatorDescription, "controllers"> & Partial<Pick<OperatorDescription, "options">>): Permission[] {
  const narrowings = cacheNarrowings(controllers, options?.caches);
  return [
    ...controllers.flatMap((controller) => permissionsOf(controller, narrowings)),
    eventsPermission(options?.events),
  ];
}

function permissionsOf(
  { resources, finalizers = [] }: ControllerDescription,
  narrowings: CacheNarrowings,
): Permission[] {
  const owns = resources.some(({ role }) => role === "owns");
  return resources.flatMap(({ role, definition: resource }): Permission[] => {
    const { namespaces } = narrowings.get(definitionKey(resource)) ?? {};
    const read: Permission = { resource, verbs: READ_VERBS, ...(namespaces === undefined ? {} : { namespaces }) };
    switch (role) {
      case "for":
        return [
          read,
          { resource, subresource: "status", verbs: ["get", "update", "patch"] },
          ...(finalizers.length === 0 ? [] : [{ resource, verbs: ["update", "patch"] }]),
          // Upstream: OwnerReferencesPermissionEnforcement requires this to set `blockOwnerDeletion`.
          ...(owns ? [{ resource, subresource: "finalizers", verbs: ["update"] }] : []),
        ];
      case "owns":
        return [read, { resource, verbs: WRITE_VERBS }];
      case "writes":
        return [{ resource }];
      case "watches":
      case "reads":
        return [read];
      default:
        throw new Error(`${resource.kind} has the role ${JSON.stringify(role satisfies never)}, which is unknown`);
    }
  });
}

/** Permissions for leader election, in the namespace of the Lease. `create` cannot be restricted to a name. */
export function electionPermissions(leaseName: string, api?: EventsApi): Permission[] {
  return [
    { resource: leases, verbs: ["create"] },
    { resource: leases, verbs: ["get", "watch", "update"], resourceNames: [leaseName] },
    eventsPermission(api),
  ];
}

/** Events are created, and patched with a higher count when they repeat. */
function eventsPermission(api: EventsApi | undefined): Permission {
  return { resource: eventsResource(api), verbs: ["create", "patch"] };
}

/** Permissions for sharding, in the namespace of the Leases. Names of members are not known in advance. */
export function shardingPermissions(): Permission[] {
  return [
    { resource: leases, verbs: ["get", "list", "watch", "create", "update", "delete"] },
    { resource: configMaps, verbs: ["get", "list", "watch", "create", "update"] },
  ];
}

/** Permissions for the shared certificate, in the namespace of its Secret. */
export function certificatePermissions(secretName: string): Permission[] {
  return [
    { resource: secrets, verbs: ["create"] },
    { resource: secrets, verbs: ["get", "update"], resourceNames: [secretName] },
  ];
}

/** Permissions for publishing webhooks: to patch their existing configurations. */
export function publishingPermissions(name: string, webhooks: readonly Webhook[]): Permission[] {
  const change = (resource: Definition, resourceNames: readonly string[]): Permission[] =>
    resourceNames.length === 0 ? [] : [{ resource, verbs: ["patch"], resourceNames }];
  const has = (type: Webhook["type"]): readonly string[] => (webhooks.some((each) => each.type === type) ? [name] : []);
  const definitions = webhooks
    .filter(isConversion)
    .map(({ definition }) => `${definition.resource}.${definition.group}`);
  return [
    ...change(validatingWebhookConfigurations, has("validating")),
    ...change(mutatingWebhookConfigurations, has("mutating")),
    ...change(customResourceDefinitions, definitions),
  ];
}
