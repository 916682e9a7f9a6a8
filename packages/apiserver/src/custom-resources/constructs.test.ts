import { expect, test } from "vitest";
import { SimulatedClock, seededRandom } from "@kubewright/clock";

import { createApiServer } from "../api-server.js";
import type { JsonObject } from "../json.js";

/**
 * Each construct that the CustomResourceDefinitions of Argo Workflows, cert-manager, the Prometheus operator, Gateway
 * API and JobSet use.
 *
 * | construct                                                   | seen in                                        |
 * | ----------------------------------------------------------- | ---------------------------------------------- |
 * | root that requires `metadata`                               | Argo Workflows                                 |
 * | `properties` beside `x-kubernetes-preserve-unknown-fields`  | Argo Workflows                                 |
 * | map of objects, and of arbitrary values                     | Argo Workflows, cert-manager                   |
 * | several versions, one deprecated, one not served            | Gateway API                                    |
 * | int-or-string with `anyOf` and a pattern (quantities)       | cert-manager, Prometheus operator, JobSet      |
 * | list map with a defaulted key (`ports` by port, protocol)   | JobSet, Prometheus operator                    |
 * | set of strings; atomic map and list                         | Gateway API, JobSet, cert-manager              |
 * | `oneOf` and `not` of required fields                        | Gateway API (rules today, schemas before)      |
 * | formats `int32`, `int64`, `date-time`, `byte`               | all                                            |
 * | bounds of numbers, strings, lists and maps, enum, pattern   | Gateway API, cert-manager                      |
 * | defaults of fields, lists and objects                       | Gateway API, Prometheus operator               |
 * | `nullable`                                                  | Prometheus operator                            |
 * | rule over the fields of an object, with its message         | all but Argo Workflows                         |
 * | rule over a list with nested macros, index and `has`        | Gateway API                                    |
 * | rule for immutability (`self == oldSelf`)                   | JobSet, Gateway API                            |
 * | rule against removal (`has(oldSelf.x)`)                     | JobSet                                         |
 * | rule with `?:`, `matches`, `in`, `size` of a map            | Gateway API                                    |
 * | rule over a field named `namespace`                         | JobSet                                         |
 * | rule over durations in strings (`duration(…)`)              | Gateway API                                    |
 * | status and scale subresource, label selector                | Prometheus operator                            |
 * | columns, with filters in their paths and priorities         | all                                            |
 * | short names, categories                                     | cert-manager, Gateway API, Prometheus operator |
 * | selectable fields                                           | cert-manager                                   |
 */
const text = { type: "string", maxLength: 64 };
const quantity = {
  anyOf: [{ type: "integer" }, { type: "string" }],
  pattern:
    "^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$",
  "x-kubernetes-int-or-string": true,
};
const rule = (...rules: object[]): object => ({ "x-kubernetes-validations": rules });
const port = {
  type: "object",
  required: ["port"],
  properties: {
    port: { type: "integer", format: "int32", minimum: 1, maximum: 65535 },
    protocol: { type: "string", default: "TCP", enum: ["TCP", "UDP"] },
    name: { type: "string", nullable: true, minLength: 1, maxLength: 15, pattern: "^[a-z0-9-]+$" },
  },
};
const route = {
  type: "object",
  properties: {
    path: {
      type: "object",
      default: { type: "PathPrefix", value: "/" },
      properties: {
        type: { type: "string", default: "PathPrefix", enum: ["Exact", "PathPrefix", "Regex"] },
        value: { ...text, default: "/" },
      },
      ...rule(
        {
          rule: "(self.type in ['Exact','PathPrefix']) ? self.value.startsWith('/') : true",
          message: "value must be an absolute path",
        },
        {
          rule: "self.type in ['Exact','PathPrefix'] ? self.value.matches(r\"^(?:[-A-Za-z0-9/._~!$&'()*+,;=:@]|[%][0-9a-fA-F]{2})+$\") : true",
          message: "must only contain valid characters",
        },
      ),
    },
    timeouts: {
      type: "object",
      properties: { request: { ...text, pattern: "^([0-9]{1,5}(h|m|s|ms)){1,4}$" }, backend: { ...text } },
      ...rule({
        rule: "!(has(self.request) && has(self.backend) && duration(self.request) != duration('0s') && duration(self.backend) > duration(self.request))",
        message: "backend timeout cannot be longer than request timeout",
      }),
    },
    filters: {
      type: "array",
      maxItems: 4,
      items: {
        type: "object",
        required: ["type"],
        properties: { type: { ...text, enum: ["A", "B"] }, a: { type: "object" }, b: { type: "object" } },
        oneOf: [{ required: ["a"] }, { required: ["b"] }],
      },
      ...rule({
        rule: "self.filter(f, f.type == 'A').size() <= 1 && self.all(f, f.type == 'A' ? has(f.a) : has(f.b))",
        message: "filters cannot be repeated",
      }),
    },
  },
};
const spec = {
  type: "object",
  required: ["entry"],
  properties: {
    entry: { ...text, ...rule({ rule: "self == oldSelf", message: "Value is immutable" }) },
    replicas: { type: "integer", format: "int32", default: 1, minimum: 0 },
    ports: {
      type: "array",
      maxItems: 8,
      items: port,
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["port", "protocol"],
      ...rule({
        rule: "self.all(p1, self.exists_one(p2, has(p1.name) && has(p2.name) ? p1.name == p2.name : p1 == p2))",
        message: "names must be unique",
      }),
    },
    hosts: { type: "array", maxItems: 8, items: text, "x-kubernetes-list-type": "set" },
    routes: { type: "array", maxItems: 8, items: route, default: [{ path: { type: "PathPrefix", value: "/" } }] },
    limits: { type: "object", maxProperties: 8, additionalProperties: quantity },
    labels: {
      type: "object",
      maxProperties: 8,
      additionalProperties: text,
      "x-kubernetes-map-type": "atomic",
      ...rule({ rule: "self.all(key, size(key) < 10 && self[key] != '')", message: "short keys" }),
    },
    arguments: {
      type: "object",
      "x-kubernetes-preserve-unknown-fields": true,
      properties: { verbose: { type: "boolean" } },
    },
    open: { type: "object", additionalProperties: true, properties: { known: { type: "integer" } } },
    bundle: { type: "string", format: "byte", maxLength: 100 },
    until: { type: "string", format: "date-time", nullable: true },
    target: {
      type: "object",
      properties: { name: text, namespace: text, kind: text },
      not: { required: ["name", "kind"], properties: { kind: { enum: ["None"] } } },
      ...rule({ rule: "!has(self.namespace) || size(self.namespace) < 20", message: "namespace too long" }),
    },
  },
  ...rule(
    { rule: "!has(oldSelf.hosts) || has(self.hosts)", message: "hosts cannot be removed" },
    {
      rule: "!has(self.limits) || !('cpu' in self.limits) || quantity(string(self.limits.cpu)).isGreaterThan(quantity('0'))",
      messageExpression: "'cpu must be more than %s'.format([0])",
      fieldPath: ".limits",
      reason: "FieldValueForbidden",
    },
  ),
};
const version = {
  name: "v1",
  served: true,
  storage: true,
  schema: {
    openAPIV3Schema: {
      type: "object",
      required: ["metadata", "spec"],
      properties: {
        apiVersion: { type: "string" },
        kind: { type: "string" },
        metadata: { type: "object" },
        spec,
        status: {
          type: "object",
          properties: {
            replicas: { type: "integer", format: "int64" },
            selector: text,
            conditions: {
              type: "array",
              maxItems: 8,
              items: { type: "object", required: ["type", "status"], properties: { type: text, status: text } },
              "x-kubernetes-list-type": "map",
              "x-kubernetes-list-map-keys": ["type"],
            },
          },
        },
      },
    },
  },
  subresources: {
    status: {},
    scale: {
      specReplicasPath: ".spec.replicas",
      statusReplicasPath: ".status.replicas",
      labelSelectorPath: ".status.selector",
    },
  },
  selectableFields: [{ jsonPath: ".spec.entry" }],
  additionalPrinterColumns: [
    { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type == "Ready")].status' },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp", priority: 1 },
  ],
};
const definition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "journeys.example.com", annotations: { "example.com/made": "here" } },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { plural: "journeys", singular: "journey", kind: "Journey", shortNames: ["jn"], categories: ["all"] },
    versions: [
      version,
      { ...version, name: "v1beta1", storage: false, deprecated: true, deprecationWarning: "use v1" },
      { ...version, name: "v1alpha1", storage: false, served: false },
    ],
  },
};

type Method = "GET" | "POST" | "PUT" | "DELETE";

async function serve(): Promise<
  ((method: Method, path: string, value?: unknown) => Promise<JsonObject>) & { clock: SimulatedClock }
> {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const server = createApiServer({ clock, random: seededRandom(1), freeze: true });
  const send = async (method: Method, path: string, value?: unknown): Promise<JsonObject> => {
    const { body } = await server.transport({
      method,
      path,
      headers: { "content-type": "application/json" },
      ...(value === undefined ? {} : { body: { type: "decoded" as const, value } }),
    });
    return (body as { value: JsonObject }).value;
  };
  const made = await send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition);
  expect(made).toMatchObject({ kind: "CustomResourceDefinition" });
  await clock.settle();
  await clock.advance(100);
  return Object.assign(send, { clock });
}

const JOURNEYS = "/apis/example.com/v1/namespaces/default/journeys";
const journey = (more: object = {}, name = "j"): object => ({
  apiVersion: "example.com/v1",
  kind: "Journey",
  metadata: { name },
  spec: { entry: "main", ...more },
});

test("an object that uses every construct is accepted and defaulted", async () => {
  const send = await serve();
  const taken = await send(
    "POST",
    JOURNEYS,
    journey({
      ports: [{ port: 80 }, { port: 80, protocol: "UDP", name: null }, { port: 443, name: "https" }],
      hosts: ["a", "b"],
      routes: [
        { path: { value: "/x" }, timeouts: { request: "1m", backend: "30s" }, filters: [{ type: "A", a: {} }] },
        { path: { type: "Regex", value: "x+" } },
      ],
      limits: { cpu: "500m", memory: "1Gi", pods: 3 },
      labels: { short: "yes" },
      arguments: { verbose: true, anything: { goes: [1] } },
      open: { known: 1, more: "text" },
      bundle: "aGk=",
      until: null,
      target: { name: "n", kind: "Some", namespace: "ns" },
    }),
  );
  expect(taken).toMatchObject({
    kind: "Journey",
    spec: {
      replicas: 1,
      ports: [{ protocol: "TCP" }, { protocol: "UDP", name: null }, { protocol: "TCP" }],
      routes: [{ path: { type: "PathPrefix", value: "/x" } }, { path: { type: "Regex" } }],
      arguments: { anything: { goes: [1] } },
      open: { more: "text" },
      until: null,
    },
  });
});

test.each<[object, string]>([
  [{ entry: undefined }, "spec.entry: Required value"],
  [{ replicas: 2 ** 31 }, "Checked value must be of type integer with format int32 in spec.replicas"],
  [{ replicas: -1 }, "spec.replicas in body should be greater than or equal to 0"],
  [
    { ports: [{ port: 80 }, { port: 80, protocol: "TCP" }] },
    'spec.ports[1]: Duplicate value: {"port":80,"protocol":"TCP"}',
  ],
  [
    {
      ports: [
        { port: 1, name: "a" },
        { port: 2, name: "a" },
      ],
    },
    "spec.ports: Invalid value: names must be unique",
  ],
  [
    { ports: [{ port: 1, protocol: "SCTP" }] },
    'spec.ports[0].protocol: Unsupported value: "SCTP": supported values: "TCP", "UDP"',
  ],
  [{ ports: [{ port: 1, name: "Web" }] }, "spec.ports[0].name in body should match"],
  [{ hosts: ["a", "a"] }, 'spec.hosts[1]: Duplicate value: "a"'],
  [{ routes: [{ path: { value: "x" } }] }, "spec.routes[0].path: Invalid value: value must be an absolute path"],
  [{ routes: [{ path: { value: "/ü" } }] }, "spec.routes[0].path: Invalid value: must only contain valid characters"],
  [
    { routes: [{ timeouts: { request: "1s", backend: "1m" } }] },
    "backend timeout cannot be longer than request timeout",
  ],
  [
    { routes: [{ filters: [{ type: "A" }] }] },
    '"spec.routes[0].filters[0]" must validate one and only one schema (oneOf). Found none valid',
  ],
  [
    { routes: [{ filters: [{ type: "A", b: {} }] }] },
    "spec.routes[0].filters: Invalid value: filters cannot be repeated",
  ],
  [{ limits: { cpu: "lots" } }, "spec.limits.cpu in body should match"],
  [{ limits: { cpu: 0 } }, "spec.limits: Forbidden: cpu must be more than 0"],
  [{ labels: { "a-very-long-key": "x" } }, "spec.labels: Invalid value: short keys"],
  [{ arguments: { verbose: "yes" } }, "spec.arguments.verbose in body must be of type boolean"],
  [{ open: { known: "x" } }, "spec.open.known in body must be of type integer"],
  [{ bundle: "a b" }, "spec.bundle in body must be of type byte"],
  [{ until: "tomorrow" }, "spec.until in body must be of type date-time"],
  [{ target: { name: "n", kind: "None" } }, '"spec.target" must not validate the schema (not)'],
  [{ target: { namespace: "a".repeat(30) } }, "spec.target: Invalid value: namespace too long"],
])("%j is refused", async (more, message) => {
  const send = await serve();
  const answer = await send("POST", JOURNEYS, journey(more));
  expect(answer).toMatchObject({ code: 422 });
  expect(answer["message"]).toContain(message);
});

test("immutable values cannot be changed or removed", async () => {
  const send = await serve();
  const made = await send("POST", JOURNEYS, journey({ hosts: ["a"] }));
  const answer = await send("PUT", `${JOURNEYS}/j`, { ...made, spec: { entry: "other" } });
  expect(answer["message"]).toBe(
    'Journey.example.com "j" is invalid: [spec: Invalid value: hosts cannot be removed, spec.entry: Invalid value: "other": Value is immutable]',
  );
});

test("objects of a kind with several versions are deleted with their namespace", async () => {
  const send = await serve();
  await send("POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: "away" } });
  const journeys = JOURNEYS.replace("default", "away");
  expect(await send("POST", journeys, journey())).toMatchObject({ kind: "Journey" });
  await send("DELETE", "/api/v1/namespaces/away");
  await send.clock.advance(10_000);
  expect(await send("GET", journeys)).toMatchObject({ items: [] });
  expect(await send("GET", "/api/v1/namespaces/away")).toMatchObject({ code: 404 });
});
