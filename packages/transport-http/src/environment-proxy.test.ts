import { expect, test } from "vitest";

import { proxyFromEnvironment } from "./environment-proxy.js";

const PROXY = "http://proxy.example.com:3128";
const both = { HTTPS_PROXY: PROXY, HTTP_PROXY: "http://plain.example.com" };

test.each([
  ["https://api.example.com:6443", both, PROXY],
  ["http://api.example.com", both, "http://plain.example.com"],
  ["https://api.example.com", { https_proxy: "proxy.example.com:3128" }, PROXY],
  ["https://api.example.com", { HTTP_PROXY: PROXY }, undefined],
  ["https://api.example.com", {}, undefined],
  ["https://127.0.0.1:6443", both, undefined],
  ["https://localhost:6443", both, undefined],
  ["https://[::1]:6443", both, undefined],
])("%s with %j goes through %s", (server, env, proxy) => {
  expect(proxyFromEnvironment(new URL(server), env)).toBe(proxy);
});

test.each([
  ["*", "https://api.example.com", true],
  ["example.com", "https://api.example.com", true],
  ["example.com", "https://example.com", true],
  [".example.com", "https://example.com", false],
  [".example.com", "https://api.example.com", true],
  ["*.example.com", "https://api.example.com", true],
  ["ample.com", "https://example.com", false],
  ["other.org, EXAMPLE.com ", "https://api.example.com", true],
  ["api.example.com:6443", "https://api.example.com:6443", true],
  ["api.example.com:443", "https://api.example.com", true],
  ["api.example.com:443", "https://api.example.com:6443", false],
  ["10.0.0.0/8", "https://10.1.2.3:6443", true],
  ["10.0.0.0/8", "https://11.1.2.3:6443", false],
  ["10.1.2.3", "https://10.1.2.3", true],
  ["fd00::/8", "https://[fd12::1]:6443", true],
  ["10.0.0.0/99", "https://10.1.2.3", false],
  ["", "https://api.example.com", false],
])("NO_PROXY %j and %s: exempt %s", (list, server, exempt) => {
  expect(proxyFromEnvironment(new URL(server), { ...both, NO_PROXY: list }) === undefined).toBe(exempt);
});

test("a proxy of another kind is refused by name", () => {
  expect(() => proxyFromEnvironment(new URL("https://api.example.com"), { HTTPS_PROXY: "socks5://proxy" })).toThrow(
    'HTTPS_PROXY: "socks5://proxy" is not an http or https URL',
  );
});
