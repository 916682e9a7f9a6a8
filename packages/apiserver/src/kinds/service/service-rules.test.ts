/** Generated Services, sent through a server: which fields are allocated and kept, and which errors are reported. */
import type { Service, Status } from "@kubewright/api";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import * as fc from "fast-check";
import { expect, test } from "vitest";

import { type ApiServer, createApiServer } from "../../index.js";

type Spec = NonNullable<Service["spec"]>;

const PATH = "/api/v1/namespaces/default/services";

function newServer(): ApiServer {
  return createApiServer({ clock: new SimulatedClock("2026-01-01T00:00:00Z"), random: seededRandom(1), freeze: true });
}

async function send(server: ApiServer, method: string, path: string, value?: object): Promise<Service & Status> {
  const body = value === undefined ? undefined : ({ type: "decoded", value } as const);
  const headers: Record<string, string> = method === "PATCH" ? { "content-type": "application/merge-patch+json" } : {};
  const response = await server.transport({ method, path, headers, ...(body === undefined ? {} : { body }) } as never);
  return (response.body as { value: unknown }).value as Service & Status;
}

const created = (server: ApiServer, name: string, spec: object): Promise<Service & Status> =>
  send(server, "POST", PATH, { metadata: { name }, spec });

test("every Service gets a unique address and unique node ports, and keeps them", async () => {
  const server = newServer();
  const type = fc.constantFrom("ClusterIP", "NodePort", "LoadBalancer");
  const port = fc.record({ port: fc.integer({ min: 1, max: 65535 }), protocol: fc.constantFrom("TCP", "UDP") });
  const ports = fc
    .uniqueArray(port, { selector: (one) => `${one.protocol} ${one.port}`, minLength: 1, maxLength: 3 })
    .map((list) => list.map((one, index) => ({ ...one, name: `n${index}` })));
  const specs = fc.sample(fc.record({ type, ports }), { numRuns: 60, seed: 7 });
  const addresses = new Set(["10.0.0.1"]);
  const nodePorts = new Set<number>();
  for (const [index, spec] of specs.entries()) {
    const service = await created(server, `s${index}`, spec);
    expect(service.message).toBeUndefined();
    const { clusterIP = "", clusterIPs, ports: given = [] } = service.spec!;
    expect(clusterIP).toMatch(/^10\.0\.0\.\d+$/);
    expect([clusterIPs, addresses.has(clusterIP)]).toEqual([[clusterIP], false]);
    addresses.add(clusterIP);
    const own = new Set(given.map(({ nodePort }) => nodePort ?? 0));
    for (const nodePort of own) {
      expect([nodePort > 0, nodePort > 0 && nodePorts.has(nodePort)]).toEqual([spec.type !== "ClusterIP", false]);
      nodePorts.add(nodePort);
    }
    const { spec: kept } = await send(server, "PUT", `${PATH}/s${index}`, { metadata: { name: `s${index}` }, spec });
    expect(kept).toEqual(service.spec);
  }
  await server.close();
});

test("an address or node port of another Service is refused", async () => {
  const server = newServer();
  const first = await created(server, "a", { type: "NodePort", ports: [{ port: 80, nodePort: 30100 }] });
  const { clusterIP } = first.spec!;
  const range = "The range of valid IPs is 10.0.0.0/24";
  for (const [spec, message] of [
    [
      { clusterIP },
      `spec.clusterIPs: Invalid value: ["${clusterIP}"]: failed to allocate IP ${clusterIP}: provided IP is already allocated`,
    ],
    [
      { clusterIP: "10.9.0.1" },
      `spec.clusterIPs: Invalid value: ["10.9.0.1"]: failed to allocate IP 10.9.0.1: the provided IP (10.9.0.1) is not in the valid range. ${range}`,
    ],
    [
      { type: "NodePort", ports: [{ port: 80, nodePort: 30100 }] },
      "spec.ports[0].nodePort: Invalid value: 30100: provided port is already allocated",
    ],
    [
      { type: "NodePort", ports: [{ port: 80, nodePort: 80 }] },
      "spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid ports is 30000-32767",
    ],
  ] as const) {
    expect((await created(server, "b", { ports: [{ port: 80 }], ...spec })).message).toBe(
      `Service "b" is invalid: ${message}`,
    );
  }
  await send(server, "DELETE", `${PATH}/a`);
  expect((await created(server, "b", { clusterIP, ports: [{ port: 80 }] })).spec?.clusterIP).toBe(clusterIP);
  await server.close();
});

test("changing a Service's type adds and removes the allocated fields", async () => {
  const server = newServer();
  await created(server, "a", { type: "LoadBalancer", externalTrafficPolicy: "Local", ports: [{ port: 80 }] });
  const patched = async (spec: object): Promise<Spec> => (await send(server, "PATCH", `${PATH}/a`, { spec })).spec!;
  const { clusterIP } = (await send(server, "GET", `${PATH}/a`)).spec!;
  const asClusterIP = await patched({ type: "ClusterIP", externalTrafficPolicy: null });
  expect(asClusterIP).toMatchObject({ clusterIP });
  expect(asClusterIP.ports?.[0]).not.toHaveProperty("nodePort");
  for (const member of ["healthCheckNodePort", "allocateLoadBalancerNodePorts"])
    expect(asClusterIP).not.toHaveProperty(member);
  const asName = await patched({ type: "ExternalName", externalName: "a.example.com", internalTrafficPolicy: null });
  for (const member of ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"])
    expect(asName).not.toHaveProperty(member);
  expect(await patched({ type: "NodePort", externalName: null })).toMatchObject({
    clusterIPs: [expect.stringMatching(/^10\.0\.0\./)],
    ipFamilies: ["IPv4"],
    ports: [{ port: 80, nodePort: expect.any(Number) as number }],
  });
  await server.close();
});

test("a Service without a selector may have endpoints of both families", async () => {
  const server = newServer();
  const { spec } = await created(server, "a", { clusterIP: "None" });
  expect(spec).toMatchObject({ ipFamilies: ["IPv4", "IPv6"], ipFamilyPolicy: "RequireDualStack" });
  await server.close();
});

/** Broken Services by description: the spec and its only error message. */
const broken: Readonly<Record<string, fc.Arbitrary<readonly [spec: object, message: string]>>> = {
  "a protocol": fc
    .stringMatching(/^[a-z]{2,5}$/)
    .map((protocol) => [
      { ports: [{ port: 80, protocol }] },
      `spec.ports[0].protocol: Unsupported value: "${protocol}": supported values: "SCTP", "TCP", "UDP"`,
    ]),
  "a port twice": fc.integer({ min: 1, max: 65535 }).map((port) => [
    {
      ports: [
        { name: "a", port },
        { name: "b", port, targetPort: 1 },
      ],
    },
    `spec.ports[1]: Duplicate value: {"Port":${port},"Protocol":"TCP"}`,
  ]),
  "ranges for no balancer": fc
    .ipV4()
    .map((address) => [
      { loadBalancerSourceRanges: [`${address}/8`] },
      "spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is 'LoadBalancer'",
    ]),
  "an external policy on a ClusterIP Service": fc
    .constantFrom("Cluster", "Local")
    .map((policy) => [
      { externalTrafficPolicy: policy },
      `spec.externalTrafficPolicy: Invalid value: "${policy}": may only be set for externally-accessible services`,
    ]),
  "an affinity timeout of more than a day": fc
    .integer({ min: 86401, max: 2 ** 31 - 1 })
    .map((timeoutSeconds) => [
      { sessionAffinity: "ClientIP", sessionAffinityConfig: { clientIP: { timeoutSeconds } } },
      `spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: ${timeoutSeconds}: must be greater than 0 and less than 86400`,
    ]),
  "an address of the machine": fc
    .nat(255)
    .map((last) => [
      { externalIPs: [`127.0.0.${last}`] },
      `spec.externalIPs[0]: Invalid value: "127.0.0.${last}": may not be in the loopback range (127.0.0.0/8, ::1/128)`,
    ]),
  "an unconfigured IP family": fc
    .constantFrom("IPv6")
    .map((family) => [
      { ipFamilies: [family] },
      'spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster',
    ]),
  "two addresses for one family": fc
    .tuple(fc.nat(255), fc.nat(255))
    .map(([a, b]) => [
      { clusterIP: `10.0.0.${a}`, clusterIPs: [`10.0.0.${a}`, `10.0.0.${b}`], ipFamilyPolicy: "PreferDualStack" },
      `spec.clusterIPs: Invalid value: ["10.0.0.${a}","10.0.0.${b}"]: may specify no more than one IP for each IP family`,
    ]),
};

test.each(Object.entries(broken))("a Service with %s is refused with that error only", async (_name, arbitrary) => {
  const server = newServer();
  await fc.assert(
    fc.asyncProperty(arbitrary, async ([spec, message]) => {
      const answer = await created(server, "s", { ports: [{ port: 80 }], ...spec });
      expect(answer.message).toBe(`Service "s" is invalid: ${message}`);
    }),
    { numRuns: 20 },
  );
  await server.close();
});
