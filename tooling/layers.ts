/** The layers, bottom first. A package may import only packages of lower layers. */
export const LAYERS: readonly { readonly name: string; readonly packages: readonly string[] }[] = [
  { name: "ground", packages: ["api", "clock", "transport", "cron", "serving"] },
  { name: "language", packages: ["cel"] },
  { name: "wire", packages: ["client", "transport-http", "apiserver"] },
  { name: "state", packages: ["workqueue", "informer", "expectations"] },
  { name: "kit", packages: ["controller", "sharding"] },
  { name: "controllers", packages: ["job", "cronjob", "podgc", "ttl-after-finished", "garbage-collector"] },
  { name: "managers", packages: ["manager"] },
  { name: "assembly", packages: ["cluster", "operator"] },
  { name: "test kits", packages: ["testing", "simulation"] },
  { name: "pages", packages: ["timeline"] },
  { name: "engine", packages: ["analysis"] },
  { name: "apps", packages: ["controller-manager", "create-kubewright", "simulator"] },
  { name: "sites", packages: ["site"] },
];

/** Returns the layer of a folder, counted from the bottom. */
export function layerOf(packageName: string): number {
  const layer = LAYERS.findIndex(({ packages }) => packages.includes(packageName));
  if (layer < 0) throw new Error(`${packageName} is in no layer: add it to tooling/layers.ts`);
  return layer;
}
