import { DefinitionRegistrar } from "./custom-resources/definition-registrar.js";
import { NamespacedResourcesDeleter } from "./namespaced-resources-deleter.js";
import { ObjectExpiry } from "./object-expiry.js";
import { isStoredAs } from "./served-resource.js";
import type { ServerState } from "./server-state.js";
import type { ResourceStorage } from "./storage/resource-storage.js";

/**
 * Starts the server's background tasks: events expire, deleted namespaces are emptied, CustomResourceDefinitions are
 * served.
 */
export function startBackgroundTasks({
  clock,
  store,
  schemas,
  registry,
  namespaces,
  conversions: conversionContext,
}: ServerState): void {
  const expiring = new Set<ResourceStorage>();
  for (const { storage, timeToLiveMs } of registry.all()) {
    // Two APIs may serve the same stored objects.
    if (timeToLiveMs === undefined || expiring.has(storage)) continue;
    expiring.add(storage);
    ObjectExpiry.start({ clock, storage, timeToLiveMs });
  }
  const deleter = new NamespacedResourcesDeleter({ clock, registry, namespaces: namespaces.storage });
  for (const resource of registry.all())
    if (resource.namespaced && isStoredAs(resource)) deleter.watch(resource.storage);
  const definitions = registry.find("apiextensions.k8s.io", "v1", "customresourcedefinitions")!;
  DefinitionRegistrar.start({
    clock,
    store,
    registry,
    schemas,
    definitions: definitions.storage,
    conversionContext,
    onStorage: (storage) => deleter.watch(storage),
  });
}
