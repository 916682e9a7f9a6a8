import { expect, test } from "vitest";
import { SimulatedClock, seededRandom } from "@kubewright/clock";

import { type WebhookCall, builtInResource, createApiServer } from "../index.js";

/** Kinds without a schema: their objects are stored as sent. */
const resources = [
  { group: "", resource: "endpoints", kind: "Endpoints" },
  { group: "discovery.k8s.io", resource: "endpointslices", kind: "EndpointSlice" },
].map(({ group, resource, kind }) =>
  builtInResource({
    definition: { group, version: "v1", resource, kind, namespaced: true },
    singular: kind.toLowerCase(),
    listKind: `${kind}List`,
    strategy: {},
  }),
);

const slice = (name: string, ready: boolean, address: string): [string, object] => [
  "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
  {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name, labels: { "kubernetes.io/service-name": "hook" } },
    addressType: "IPv4",
    endpoints: [{ addresses: [address], conditions: { ready } }],
    ports: [
      { name: "other", port: 1 },
      { name: "tls", port: 8443 },
    ],
  },
];
const endpoints: [string, object] = [
  "/api/v1/namespaces/default/endpoints",
  {
    apiVersion: "v1",
    kind: "Endpoints",
    metadata: { name: "hook" },
    subsets: [{ addresses: [{ ip: "10.0.0.9" }], ports: [{ name: "tls", port: 9443 }] }],
  },
];

test.each<[string, [string, object][], WebhookCall["address"]]>([
  [
    "a ready endpoint of a slice",
    [slice("a", false, "10.0.0.1"), slice("b", true, "10.0.0.2")],
    { host: "10.0.0.2", port: 8443 },
  ],
  ["Endpoints", [endpoints], { host: "10.0.0.9", port: 9443 }],
  ["nothing that is not ready", [slice("a", false, "10.0.0.1")], undefined],
  ["slices before Endpoints", [endpoints, slice("a", true, "10.0.0.1")], { host: "10.0.0.1", port: 8443 }],
])("a service leads to %s, at the port of its port's name", async (_what, objects, address) => {
  const calls: WebhookCall[] = [];
  const server = createApiServer({
    clock: new SimulatedClock(),
    random: seededRandom(1),
    resources,
    webhooks: (call) => {
      calls.push(call);
      return Promise.reject(new Error("EOF"));
    },
  });
  const create = (path: string, value: object): Promise<{ readonly status: number }> =>
    server.transport({ method: "POST", path, headers: {}, body: { type: "decoded", value } });
  await create("/api/v1/namespaces/default/services", {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "hook" },
    spec: { ports: [{ name: "tls", port: 443, targetPort: 8443 }] },
  });
  for (const [path, value] of objects) expect((await create(path, value)).status).toBe(201);
  await create("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingWebhookConfiguration",
    metadata: { name: "w" },
    webhooks: [
      {
        name: "a.example.com",
        clientConfig: { service: { name: "hook", namespace: "default", path: "/check" } },
        rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
        admissionReviewVersions: ["v1"],
        sideEffects: "None",
        timeoutSeconds: 3,
      },
    ],
  });
  const value = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } };
  await create("/api/v1/namespaces/default/configmaps", value);
  const wanted = { url: "https://hook.default.svc:443/check?timeout=3s", address, timeoutMs: 3000 };
  expect(calls).toMatchObject(address === undefined ? [] : [wanted]);
});
