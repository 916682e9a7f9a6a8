import * as fc from "fast-check";
import { expect, test } from "vitest";

import { causes, create, update } from "../../../test/strategy-calls.js";
import { ingressClassStrategy } from "./ingress-class.js";
import { ingressStrategy } from "./ingress.js";
import { networkPolicyStrategy } from "./network-policy.js";

const service = { service: { name: "s", port: { number: 80 } } };
const ingress = (spec: object): object => ({ metadata: { name: "i" }, spec });
const path = (fields: object): object =>
  ingress({ rules: [{ http: { paths: [{ path: "/", pathType: "Prefix", backend: service, ...fields }] } }] });
const policy = (spec: object): object => ({ metadata: { name: "n" }, spec: { podSelector: {}, ...spec } });

const piece = fc.constantFrom("/", "a", ".", "..", "%2f", "%2F", "-");

test("an Ingress path is absolute and contains no ambiguous segments", () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 6 }), fc.constantFrom("Exact", "Prefix"), (pieces, pathType) => {
      const text = pieces.join("");
      const { message } = create(ingressStrategy, path({ path: text, pathType }));
      const segments = text.split("/").slice(1);
      const isPlain =
        text.startsWith("/") &&
        !/%2f/i.test(text) &&
        segments.every(
          (segment, index) => segment !== "." && segment !== ".." && (segment !== "" || index === segments.length - 1),
        );
      expect(message === "").toBe(isPlain);
    }),
  );
});

test("an ImplementationSpecific path may be empty or any absolute path", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const { message } = create(ingressStrategy, path({ path: text, pathType: "ImplementationSpecific" }));
      expect(message === "").toBe(text === "" || text.startsWith("/"));
    }),
  );
});

test("a backend is either a service with one port or a resource", () => {
  const backend = fc.record({
    service: fc.option(
      fc.record({
        name: fc.constantFrom("s", "1st", ""),
        port: fc.record({ name: fc.constantFrom("", "web"), number: fc.constantFrom(0, 80) }),
      }),
      { nil: undefined },
    ),
    resource: fc.option(fc.constant({ apiGroup: "example.com", kind: "Bucket", name: "b" }), { nil: undefined }),
  });
  fc.assert(
    fc.property(backend, (defaultBackend) => {
      const { message } = create(ingressStrategy, ingress({ defaultBackend }));
      const { service: given, resource } = defaultBackend;
      const isService =
        given !== undefined && given.name !== "" && (given.port.name === "") !== (given.port.number === 0);
      expect(message === "").toBe(given === undefined ? resource !== undefined : resource === undefined && isService);
    }),
  );
});

// A small set of networks, so that generated networks are often equal or nested.
const network = fc.tuple(fc.constantFrom(10, 11), fc.constantFrom(0, 1, 128), fc.integer({ min: 6, max: 18 }));
const numberOf = (a: number, b: number): number => a * 2 ** 24 + b * 2 ** 16;

test("an except CIDR of a NetworkPolicy is a strict subset of its cidr", () => {
  fc.assert(
    fc.property(network, network, ([a, b, bits], [c, d, exceptBits]) => {
      const ipBlock = { cidr: `${a}.${b}.0.0/${bits}`, except: [`${c}.${d}.0.0/${exceptBits}`] };
      const { message } = create(networkPolicyStrategy, policy({ ingress: [{ from: [{ ipBlock }] }] }));
      const size = 2 ** (32 - bits);
      const isWithin = Math.floor(numberOf(a, b) / size) === Math.floor(numberOf(c, d) / size);
      expect(message === "").toBe(exceptBits > bits && isWithin);
    }),
  );
});

test.each([
  ["2001:db8::/32", "2001:db8:1::/48", true],
  ["2001:db8::/32", "2001:db9::/48", false],
  ["::ffff:10.0.0.0/104", "10.1.0.0/16", true],
  ["10.0.0.0/8", "2001:db8::/64", false],
])("of %s, %s can be excepted: %s", (cidr, excepted, fine) => {
  const from = [{ ipBlock: { cidr, except: [excepted] } }];
  expect(create(networkPolicyStrategy, policy({ ingress: [{ from }] })).message === "").toBe(fine);
});

test("a port range starts with a number and its end is not lower", () => {
  const port = fc.option(fc.oneof(fc.integer({ min: 0, max: 70_000 }), fc.constant("web")), { nil: undefined });
  const end = fc.option(fc.integer({ min: 0, max: 70_000 }), { nil: undefined });
  fc.assert(
    fc.property(port, end, (from, endPort) => {
      const { message } = create(networkPolicyStrategy, policy({ egress: [{ ports: [{ port: from, endPort }] }] }));
      const isPort = (value: number): boolean => value >= 1 && value <= 65_535;
      const isFine =
        typeof from === "number"
          ? isPort(from) && (endPort === undefined || (isPort(endPort) && endPort >= from))
          : endPort === undefined;
      expect(message === "").toBe(isFine);
    }),
  );
});

test("policyTypes default to include Egress when egress rules are present", () => {
  const types = (spec: object): unknown => create(networkPolicyStrategy, policy(spec)).object.spec?.policyTypes;
  expect(types({})).toEqual(["Ingress"]);
  expect(types({ egress: [] })).toEqual(["Ingress"]);
  expect(types({ egress: [{}] })).toEqual(["Ingress", "Egress"]);
  expect(types({ egress: [{}], policyTypes: ["Egress"] })).toEqual(["Egress"]);
});

test("an IngressClass's controller is immutable, and namespaced parameters need a namespace", () => {
  const manifest = (parameters?: object): object => ({
    metadata: { name: "c" },
    spec: { controller: "example.com/c", parameters },
  });
  const { object } = create(ingressClassStrategy, manifest({ kind: "K", name: "n" }));
  expect(object.spec?.parameters?.scope).toBe("Cluster");
  expect(causes(create(ingressClassStrategy, manifest({ kind: "K", name: "n", scope: "Namespace" })).errors)).toEqual([
    "FieldValueRequired spec.parameters.namespace Required value: `parameters.scope` is set to 'Namespace'",
  ]);
  expect(
    create(ingressClassStrategy, manifest({ kind: "K", name: "n", scope: "Namespace", namespace: "x" })).message,
  ).toBe("");
  expect(update(ingressClassStrategy, object, ({ spec }) => (spec!.controller = "example.com/d")).message).toBe(
    'spec.controller: Invalid value: "example.com/d": field is immutable',
  );
});
