import type { Namespace, Node } from "@kubewright/api";
import { expect, test } from "vitest";

import { create, row, update, updateStatus } from "../../test/strategy-calls.js";
import { configMapStrategy } from "./config-map.js";
import { leaseStrategy } from "./lease.js";
import { namespaceStrategy } from "./namespace/strategy.js";
import { nodeStrategy } from "./node.js";
import { secretStrategy } from "./secret.js";
import { serviceAccountStrategy } from "./service-account/strategy.js";

const named = (more: object = {}): object => ({ metadata: { name: "x" }, ...more });
const CONFIG_KEY =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

test.each<[object, string]>([
  [{ data: { "a/b": "x" } }, `data[a/b]: Invalid value: "a/b": ${CONFIG_KEY}`],
  [{ data: { "..": "x" } }, `data[..]: Invalid value: "..": must not be '..'`],
  [
    { data: { a: "x" }, binaryData: { a: "AA==" } },
    'data[a]: Invalid value: "a": duplicate of key present in binaryData',
  ],
  [{ data: { a: "x".repeat(1024 * 1024 + 1) } }, "[]: Too long: may not be more than 1048576 bytes"],
])("a bad ConfigMap is refused (%#)", (fields, message) => {
  expect(create(configMapStrategy, named(fields)).message).toBe(message);
});

test("an immutable ConfigMap keeps its data and stays immutable", () => {
  const stored = create(configMapStrategy, named({ data: { a: "b" }, immutable: true })).object;
  const change = (apply: (object: typeof stored) => void): string => update(configMapStrategy, stored, apply).message;
  expect(change((object) => (object.data = { a: "c" }))).toBe(
    "data: Forbidden: field is immutable when `immutable` is set",
  );
  expect(change((object) => delete object.immutable)).toBe(
    "immutable: Forbidden: field is immutable when `immutable` is set",
  );
  expect(change((object) => (object.metadata.labels = { a: "b" }))).toBe("");
});

test("a Secret's stringData is merged into data, and its type requires keys", () => {
  const { object } = create(secretStrategy, named({ data: { k: "dg==" }, stringData: { k: "wins", e: "é" } }));
  expect(object).toMatchObject({ type: "Opaque", data: { k: "d2lucw==", e: "w6k=" } });
  expect(object).not.toHaveProperty("stringData");
  expect(create(secretStrategy, named({ type: "kubernetes.io/tls" })).message).toBe(
    "[data[tls.crt]: Required value, data[tls.key]: Required value]",
  );
  const config = { type: "kubernetes.io/dockerconfigjson", stringData: { ".dockerconfigjson": "not json" } };
  expect(create(secretStrategy, named(config)).message).toBe(
    `data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": invalid character 'o' in literal null (expecting 'u')`,
  );
  expect(update(secretStrategy, object, (next) => (next.type = "other")).message).toBe(
    'type: Invalid value: "other": field is immutable',
  );
});

test("a Lease duration must be positive", () => {
  expect(create(leaseStrategy, named({ spec: { leaseDurationSeconds: 0, leaseTransitions: -1 } })).message).toBe(
    "[spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0, spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0]",
  );
  expect(create(leaseStrategy, named({ spec: { strategy: "x", holderIdentity: "me" } })).object.spec).toEqual({
    holderIdentity: "me",
  });
});

test("a ServiceAccount keeps only the names of its secrets", () => {
  const { object } = create(
    serviceAccountStrategy,
    named({ secrets: [{ name: "s", namespace: "other", kind: "Secret" }] }),
  );
  expect(object.secrets).toEqual([{ name: "s" }]);
});

test("a namespace is made active, finalized and labelled with its name", () => {
  const manifest = named({ spec: { finalizers: [] }, status: { phase: "Terminating" } });
  const { object } = create(namespaceStrategy, manifest);
  expect(object).toMatchObject({
    metadata: { labels: { "kubernetes.io/metadata.name": "x" } },
    spec: { finalizers: ["kubernetes"] },
    status: { phase: "Active" },
  });
  const changed = update(namespaceStrategy, object, (next: Namespace) => {
    next.spec = { finalizers: [] };
    delete next.metadata.labels;
  }).object;
  expect(changed).toEqual(object);
  expect(updateStatus(namespaceStrategy, object, (next) => (next.status = { phase: "Terminating" })).message).toBe(
    "status.Phase: Invalid value: \"Terminating\": may only be 'Active' if `deletionTimestamp` is empty",
  );
});

test("a node keeps its initial status, and podCIDRs and providerID are immutable", () => {
  const status = { capacity: { cpu: "4" } };
  const { object } = create(nodeStrategy, named({ spec: { podCIDRs: ["10.0.0.0/24"], providerID: "a://1" }, status }));
  expect(object.status).toEqual({ ...status, allocatable: { cpu: "4" } });
  const change = (spec: object): string =>
    update(nodeStrategy, object, (next) => Object.assign(next.spec!, spec)).message;
  expect(change({ podCIDR: "10.1.0.0/24", podCIDRs: ["10.1.0.0/24"] })).toBe(
    'spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid',
  );
  expect(change({ providerID: "a://2" })).toBe(
    'spec.providerID: Forbidden: node updates may not change providerID except from "" to valid',
  );
  expect(change({ unschedulable: true })).toBe("");
  expect(update(nodeStrategy, object, (next) => (next.status = {})).object.status).toEqual(object.status);
});

test("two taints of a node differ in key or effect", () => {
  const taints = [
    { key: "a", effect: "NoSchedule" },
    { key: "a", value: "x", effect: "NoSchedule" },
  ];
  expect(create(nodeStrategy, named({ spec: { taints } })).message).toBe(
    'metadata.taints[1]: Duplicate value: {"Key":"a","Value":"x","Effect":"NoSchedule","TimeAdded":null}: taints must be unique by key and effect pair',
  );
  expect(create(nodeStrategy, named({ spec: { taints: [{ key: "a", effect: "Odd" }] } })).message).toBe(
    'metadata.taints[0].effect: Unsupported value: "Odd": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
  );
});

test("a node is printed with its state and roles", () => {
  const node = (fields: object): Node => named(fields) as Node;
  expect(row(nodeStrategy, node({}))).toMatchObject({ Status: "Unknown", Roles: "<none>", "OS-Image": "<unknown>" });
  const labels = { "node-role.kubernetes.io/worker": "", "kubernetes.io/role": "extra" };
  const cells = row(nodeStrategy, {
    metadata: { name: "x", labels },
    spec: { unschedulable: true },
    status: { conditions: [{ type: "Ready", status: "Unknown" }] },
  });
  expect(cells).toMatchObject({ Status: "NotReady,SchedulingDisabled", Roles: "extra,worker" });
});
