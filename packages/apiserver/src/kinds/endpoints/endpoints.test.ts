import type { EndpointSlice } from "@kubewright/api";
import * as fc from "fast-check";
import { expect, test } from "vitest";

import { create, row, update } from "../../../test/strategy-calls.js";
import { endpointSliceStrategy } from "./endpoint-slice.js";
import { endpointsStrategy } from "./endpoints.js";

const endpoints = (subset: object): object => ({ metadata: { name: "e" }, subsets: [subset] });
const slice = (fields: object = {}): object => ({
  metadata: { name: "e" },
  addressType: "IPv4",
  endpoints: [{ addresses: ["10.0.0.1"] }],
  ports: [{ port: 80 }],
  ...fields,
});

const octet = fc.constantFrom(0, 1, 10, 127, 169, 223, 224, 254, 255);

test("endpoint addresses must be reachable from other machines", () => {
  fc.assert(
    fc.property(octet, octet, octet, octet, (a, b, c, d) => {
      const ip = `${a}.${b}.${c}.${d}`;
      const isSpecial =
        (a | b | c | d) === 0 || a === 127 || (a === 169 && b === 254) || (a === 224 && b === 0 && c === 0);
      const plain = create(endpointsStrategy, endpoints({ addresses: [{ ip }], ports: [{ port: 1 }] }));
      const sliced = create(endpointSliceStrategy, slice({ endpoints: [{ addresses: [ip] }] }));
      expect([plain.message === "", sliced.message === ""]).toEqual([!isSpecial, !isSpecial]);
    }),
  );
});

test.each([
  ["::", "may not be unspecified (::)"],
  ["::1", "may not be in the loopback range (127.0.0.0/8, ::1/128)"],
  ["febf::1", "may not be in the link-local range (169.254.0.0/16, fe80::/10)"],
  ["ff02::1", "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"],
  ["2001:db8::1", ""],
  ["fec0::1", ""],
])("the IPv6 address %s: %s", (ip, sentence) => {
  const { message } = create(endpointSliceStrategy, slice({ addressType: "IPv6", endpoints: [{ addresses: [ip] }] }));
  expect(message).toBe(sentence && `endpoints[0].addresses[0]: Invalid value: "${ip}": ${sentence}`);
});

test("the addresses of a slice are of its type", () => {
  const address = fc.constantFrom("10.0.0.1", "2001:db8::1", "a.example.com", "a.example.com.", "host", "No.Host", "");
  fc.assert(
    fc.property(fc.constantFrom("IPv4", "IPv6", "FQDN"), address, (addressType, given) => {
      const { message } = create(endpointSliceStrategy, slice({ addressType, endpoints: [{ addresses: [given] }] }));
      const fits = {
        IPv4: given === "10.0.0.1",
        IPv6: given === "2001:db8::1",
        FQDN: /^(a\.ex.*|10\..*)$/.test(given),
      };
      expect(message === "").toBe(fits[addressType]);
    }),
  );
});

test("port names are unique, and required when there are several ports", () => {
  const ports = fc.array(fc.record({ name: fc.constantFrom("a", "b", ""), port: fc.constant(80) }), { maxLength: 3 });
  fc.assert(
    fc.property(ports, (given) => {
      const names = given.map(({ name }) => name);
      const plain = create(endpointsStrategy, endpoints({ addresses: [{ ip: "10.0.0.1" }], ports: given }));
      expect(plain.message === "").toBe(given.length < 2 || !names.includes(""));
      const sliced = create(endpointSliceStrategy, slice({ ports: given }));
      expect(sliced.message === "").toBe(new Set(names).size === names.length);
    }),
  );
});

test("a slice's address type is immutable, and its labels bump the generation", () => {
  const { object } = create(endpointSliceStrategy, slice());
  expect(object).toMatchObject({ metadata: { generation: 1 }, ports: [{ name: "", port: 80, protocol: "TCP" }] });
  expect(update(endpointSliceStrategy, object, (next) => (next.addressType = "IPv6")).message).toBe(
    'addressType: Invalid value: "IPv6": field is immutable',
  );
  const isNew = (change: (next: EndpointSlice) => void): boolean | undefined =>
    endpointSliceStrategy.bumpsGeneration?.(update(endpointSliceStrategy, object, change).object, object);
  expect(isNew(({ metadata }) => (metadata.labels = { a: "b" }))).toBe(true);
  expect(isNew(({ ports }) => (ports![0]!.port = 81))).toBe(true);
  expect(isNew(({ metadata }) => (metadata.annotations = { a: "b" }))).toBe(false);
});

test("deprecated topology is dropped", () => {
  const { object } = create(
    endpointSliceStrategy,
    slice({ endpoints: [{ addresses: ["10.0.0.1"], deprecatedTopology: { zone: "z" }, nodeName: "n" }] }),
  );
  expect(object.endpoints).toEqual([{ addresses: ["10.0.0.1"], nodeName: "n" }]);
});

test("Endpoints are printed with their first three ready addresses", () => {
  const addresses = [{ ip: "10.0.0.1" }, { ip: "10.0.0.2" }];
  const ports = [
    { name: "a", port: 1 },
    { name: "b", port: 2 },
  ];
  const { object } = create(endpointsStrategy, endpoints({ addresses, ports }));
  expect(row(endpointsStrategy, object)["Endpoints"]).toBe("10.0.0.1:1,10.0.0.2:1,10.0.0.1:2 + 1 more...");
  expect(row(endpointsStrategy, { metadata: { name: "e" } })["Endpoints"]).toBe("<none>");
});
