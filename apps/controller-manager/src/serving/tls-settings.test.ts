import { getCiphers } from "node:tls";

import { expect, test } from "vitest";

import { defaultsOf } from "../flag.js";
import { servingErrors, servingOptions } from "../options/serving-options.js";
import { insecureCipherSuites, openSslCiphers, openSslVersion } from "./tls-settings.js";

test("cipher suites have Go's names, and OpenSSL knows what they become", () => {
  const given = [
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305",
    "TLS_RSA_WITH_RC4_128_SHA",
  ];
  const ciphers = openSslCiphers(given)!.split(":");
  expect(ciphers).toHaveLength(3 + 2);
  expect(getCiphers()).toEqual(expect.arrayContaining(ciphers.map((name) => name.toLowerCase())));
  expect(insecureCipherSuites(given)).toEqual(["TLS_RSA_WITH_RC4_128_SHA"]);
  expect(openSslCiphers([])).toBeUndefined();
  for (const name of ["TLS_NOPE", "constructor"]) {
    expect(servingErrors({ ...defaultsOf(servingOptions), tlsCipherSuites: [name] })).toEqual([
      `Cipher suite ${name} not supported or doesn't exist`,
    ]);
  }
});

test("versions have Go's names", () => {
  expect(["VersionTLS10", "VersionTLS13", ""].map(openSslVersion)).toEqual(["TLSv1", "TLSv1.3", undefined]);
});
