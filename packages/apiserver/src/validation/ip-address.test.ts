import { expect, test } from "vitest";

import { cidrErrors, cidrFamily, isInCidr, specialAddressErrors } from "./ip-address.js";

test.each(["10.0.0.0/24", "0.0.0.0/0", "10.1.2.3/32", "fd00::/64", "::/0", "2001:db8::1/128", "::ffff:10.0.0.1/96"])(
  "%s is a valid CIDR",
  (text) => {
    expect(cidrErrors(text)).toEqual([]);
  },
);

test.each(["", "10.0.0.0", "10.0.0.0/33", "10.0.0/8", "fd00::/129", "10.0.0.0/-1", "10.0.0.0/08", "x/8", "fd00::/"])(
  "%j is not a valid CIDR",
  (text) => {
    expect(cidrFamily(text)).toBeUndefined();
  },
);

test.each([
  ["10.0.0.255", "10.0.0.0/24", true],
  ["10.0.1.0", "10.0.0.0/24", false],
  ["10.0.0.5", "10.0.0.4/31", true],
  ["10.0.0.6", "10.0.0.4/31", false],
  ["fd00::1:2", "fd00::/64", true],
  ["fd00:0:0:1::2", "fd00::/64", false],
  ["fd00::1", "10.0.0.0/8", false],
  ["::ffff:10.0.0.9", "10.0.0.0/24", true],
])("%s in %s: %s", (address, block, isIn) => {
  expect(isInCidr(address, block)).toBe(isIn);
});

test.each([
  ["0.0.0.0", "may not be unspecified (0.0.0.0)"],
  ["::", "may not be unspecified (::)"],
  ["127.1.2.3", "may not be in the loopback range (127.0.0.0/8, ::1/128)"],
  ["::1", "may not be in the loopback range (127.0.0.0/8, ::1/128)"],
  ["::ffff:127.0.0.1", "may not be in the loopback range (127.0.0.0/8, ::1/128)"],
  ["169.254.1.1", "may not be in the link-local range (169.254.0.0/16, fe80::/10)"],
  ["febf::1", "may not be in the link-local range (169.254.0.0/16, fe80::/10)"],
  ["224.0.0.251", "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"],
  ["ff02::1", "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"],
])("%s is not a usable endpoint address", (address, sentence) => {
  expect(specialAddressErrors(address)).toEqual([sentence]);
});

test.each(["10.0.0.1", "224.0.1.1", "fec0::1", "2001:db8::1", "1::", "128.0.0.1"])(
  "%s is a usable endpoint address",
  (address) => {
    expect(specialAddressErrors(address)).toEqual([]);
  },
);
