import { expect, test } from "vitest";

import {
  cidrContains,
  formatIpAddress,
  ipAddressScope,
  ipFamily,
  isIPv4Mapped,
  maskedCidr,
  parseCidr,
  parseIpAddress,
} from "./index.js";

test.each([
  ["10.0.0.1", "10.0.0.1"],
  ["2001:DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1"],
  ["::", "::"],
  ["64:ff9b::192.0.2.33", "64:ff9b::c000:221"],
  ["1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"],
])("%s is an address, in canonical form %s", (text, canonical) => {
  expect(ipFamily(text)).toBe(text.includes(":") ? 6 : 4);
  expect(formatIpAddress(parseIpAddress(text)!)).toBe(canonical);
});

test.each(["", "10.0.0", "10.0.0.01", "256.0.0.1", "1::2::3", "1:2:3:4:5:6:7:8::", "::1.2.3", "fe80::1%eth0", "g::"])(
  "%j is not an address",
  (text) => {
    expect(ipFamily(text)).toBeUndefined();
    expect(parseIpAddress(text)).toBeUndefined();
  },
);

test.each([
  ["0.0.0.0", "unspecified"],
  ["127.1.2.3", "loopback"],
  ["::1", "loopback"],
  ["169.254.1.1", "link-local"],
  ["fe80::1", "link-local"],
  ["224.0.0.5", "link-local-multicast"],
  ["ff02::1", "link-local-multicast"],
  ["239.0.0.1", "multicast"],
  ["ff05::1", "multicast"],
  ["255.255.255.255", "broadcast"],
  ["192.168.0.1", "global"],
  ["2001:db8::1", "global"],
])("the scope of %s is %s", (text, scope) => {
  expect(ipAddressScope(parseIpAddress(text)!)).toBe(scope);
});

test("a CIDR contains the addresses with its prefix, and masking clears the host bits", () => {
  const cidr = parseCidr("10.1.2.3/16")!;
  expect(formatIpAddress(maskedCidr(cidr).address)).toBe("10.1.0.0");
  expect(cidrContains(cidr, parseIpAddress("10.1.255.255")!)).toBe(true);
  expect(cidrContains(cidr, parseIpAddress("10.2.0.0")!)).toBe(false);
  expect(cidrContains(cidr, parseIpAddress("::ffff:10.1.0.1")!)).toBe(false);
  expect(isIPv4Mapped(parseIpAddress("::ffff:10.1.0.1")!)).toBe(true);
  expect(["10.0.0.0/33", "10.0.0.0/08", "10.0.0.0"].map(parseCidr)).toEqual([undefined, undefined, undefined]);
});
