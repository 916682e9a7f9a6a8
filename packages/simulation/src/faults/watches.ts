import { type CustomResourceDefinition, customResourceDefinitions } from "@kubewright/api";
import { type FaultyCluster, selects } from "@kubewright/cluster";
import type { ApiRequest } from "@kubewright/transport";

import { kinds, watcher } from "../scenario/schema.js";
import { DEFINITIONS } from "../scenario/target-kinds.js";

/** The fields of a selection of caches: of a component, of kinds, or both. */
export const cacheFields = {
  controller: { description: "Which component. Default: all.", ...watcher },
  kinds: {
    description: "Of which kinds. Default: of all.",
    ...kinds,
  },
};

interface Caches {
  readonly controller?: string;
  readonly kinds?: readonly string[];
}

/** Returns the network's selection of these watches. */
export function watchesOf(
  { controller, kinds }: Caches,
  cluster: FaultyCluster,
): { readonly components?: readonly string[]; readonly requests?: (request: ApiRequest) => boolean } {
  const resources = kinds?.map((each) => resourceOf(each, cluster));
  return {
    ...(resources === undefined ? {} : { requests: (request: ApiRequest) => selects({ resources }, request) }),
    ...(controller === undefined ? {} : { components: [controller] }),
  };
}

export function watchesText({ controller, kinds }: Caches): string {
  const what = kinds === undefined ? "watches" : `watches of ${kinds.join(" and ")}s`;
  return controller === undefined ? what : `${what} by ${controller}`;
}

/** Key of CustomResourceDefinitions in a snapshot. */
const DEFINITIONS_KEY = `${customResourceDefinitions.group}/${customResourceDefinitions.resource}`;

/** Returns the plural of a kind: for a custom kind, the one in its CustomResourceDefinition. */
export function resourceOf(of: string, { apiServer }: FaultyCluster): string {
  const known = Object.entries(DEFINITIONS).find(([name]) => name === of);
  if (known !== undefined) return known[1].resource;
  const { objects } = apiServer.snapshot();
  const definitions = (objects[DEFINITIONS_KEY] ?? []) as readonly CustomResourceDefinition[];
  return definitions.find(({ spec }) => spec?.names.kind === of)?.spec?.names.plural ?? `${of.toLowerCase()}s`;
}
