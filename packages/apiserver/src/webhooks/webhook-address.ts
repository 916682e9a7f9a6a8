import type { KubernetesObject } from "@kubewright/api";

import type { WebhookClientConfig } from "../validation/webhook-client-config.js";
import type { ResourceRegistry } from "../resource-registry.js";
import type { WebhookCall } from "./webhook-call.js";

/** URL and address of a webhook. */
export interface WebhookAddress {
  readonly url: string;
  /**
   * Resolves the address at the time of the call, because error messages begin with the URL.
   *
   * @throws Error with upstream's message.
   */
  readonly resolve: () => WebhookCall["address"];
}

interface ServicePort {
  readonly name?: string;
  readonly port: number;
}
interface Service extends KubernetesObject {
  spec?: { type?: string; ports?: readonly ServicePort[] };
}
interface EndpointPort {
  readonly name?: string;
  readonly port?: number;
}
interface Endpoints extends KubernetesObject {
  subsets?: readonly { addresses?: readonly { ip: string }[]; ports?: readonly EndpointPort[] }[];
}
interface EndpointSlice extends KubernetesObject {
  endpoints?: readonly { addresses?: readonly string[]; conditions?: { ready?: boolean } }[];
  ports?: readonly EndpointPort[];
}

const SERVICE_NAME = "kubernetes.io/service-name";

/**
 * Returns the address of a webhook: its URL, or the first ready endpoint of its service. Upstream:
 * `webhook.ClientManager`.
 */
export function webhookAddress(
  { url, service }: WebhookClientConfig,
  timeoutSeconds: number,
  registry: ResourceRegistry,
): WebhookAddress {
  const query = `?timeout=${timeoutSeconds}s`;
  if (service === undefined) return { url: `${url ?? ""}${query}`, resolve: () => undefined };
  const { name, namespace, path = "", port = 443 } = service;
  const separator = path === "" || path.startsWith("/") ? "" : "/";
  return {
    url: `https://${name}.${namespace}.svc:${port}${separator}${path}${query}`,
    resolve: () => endpointOf(registry, namespace, name, port),
  };
}

/** Upstream: `proxy.ResolveEndpoint`. */
function endpointOf(
  registry: ResourceRegistry,
  namespace: string,
  name: string,
  port: number,
): NonNullable<WebhookCall["address"]> {
  const find = (group: string, resource: string): KubernetesObject | undefined =>
    registry.find(group, "v1", resource)?.storage.get(namespace, name)?.object;
  const service: Service | undefined = find("", "services");
  if (service === undefined) throw new Error(`service ${JSON.stringify(name)} not found`);
  const { type = "ClusterIP", ports = [] } = service.spec ?? {};
  const servicePort = ports.find((each) => each.port === port);
  if (servicePort === undefined) throw new Error(`no service port ${port} found for service ${JSON.stringify(name)}`);
  if (!["ClusterIP", "LoadBalancer", "NodePort"].includes(type))
    throw new Error(`unsupported service type ${JSON.stringify(type)}`);
  for (const { hosts, ports: open } of readyEndpoints(registry, namespace, name)) {
    const [host] = hosts;
    const found = open.find((each) => (each.name ?? "") === (servicePort.name ?? ""));
    if (host !== undefined && found?.port !== undefined) return { host, port: found.port };
  }
  throw new Error(`no endpoints available for service ${JSON.stringify(name)}`);
}

/** Yields the endpoints of EndpointSlices, then those of Endpoints. */
function* readyEndpoints(
  registry: ResourceRegistry,
  namespace: string,
  name: string,
): Generator<{ readonly hosts: readonly string[]; readonly ports: readonly EndpointPort[] }> {
  const slices = registry.find("discovery.k8s.io", "v1", "endpointslices")?.storage.list(namespace) ?? [];
  for (const { object } of slices) {
    if (object.metadata.labels?.[SERVICE_NAME] !== name) continue;
    const { endpoints = [], ports = [] } = object as EndpointSlice;
    const ready = endpoints.filter(({ conditions }) => conditions?.ready !== false);
    yield { hosts: ready.flatMap(({ addresses = [] }) => addresses), ports };
  }
  const object: Endpoints | undefined = registry.find("", "v1", "endpoints")?.storage.get(namespace, name)?.object;
  for (const { addresses = [], ports = [] } of object?.subsets ?? [])
    yield { hosts: addresses.map(({ ip }) => ip), ports };
}
