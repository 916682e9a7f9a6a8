import type { TlsVersion } from "./secure-listener.js";

/** Go's cipher suites with OpenSSL's names; `""`: OpenSSL no longer has the suite. */
const SECURE = suiteMap({
  TLS_AES_128_GCM_SHA256: "TLS_AES_128_GCM_SHA256",
  TLS_AES_256_GCM_SHA384: "TLS_AES_256_GCM_SHA384",
  TLS_CHACHA20_POLY1305_SHA256: "TLS_CHACHA20_POLY1305_SHA256",
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: "ECDHE-ECDSA-AES128-SHA",
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: "ECDHE-ECDSA-AES128-GCM-SHA256",
  TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: "ECDHE-ECDSA-AES256-SHA",
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: "ECDHE-ECDSA-AES256-GCM-SHA384",
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305: "ECDHE-ECDSA-CHACHA20-POLY1305",
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: "ECDHE-ECDSA-CHACHA20-POLY1305",
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: "ECDHE-RSA-AES128-SHA",
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: "ECDHE-RSA-AES128-GCM-SHA256",
  TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: "ECDHE-RSA-AES256-SHA",
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: "ECDHE-RSA-AES256-GCM-SHA384",
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305: "ECDHE-RSA-CHACHA20-POLY1305",
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: "ECDHE-RSA-CHACHA20-POLY1305",
});

const INSECURE = suiteMap({
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256: "ECDHE-ECDSA-AES128-SHA256",
  TLS_ECDHE_ECDSA_WITH_RC4_128_SHA: "",
  TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA: "",
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256: "ECDHE-RSA-AES128-SHA256",
  TLS_ECDHE_RSA_WITH_RC4_128_SHA: "",
  TLS_RSA_WITH_3DES_EDE_CBC_SHA: "",
  TLS_RSA_WITH_AES_128_CBC_SHA: "AES128-SHA",
  TLS_RSA_WITH_AES_128_CBC_SHA256: "AES128-SHA256",
  TLS_RSA_WITH_AES_128_GCM_SHA256: "AES128-GCM-SHA256",
  TLS_RSA_WITH_AES_256_CBC_SHA: "AES256-SHA",
  TLS_RSA_WITH_AES_256_GCM_SHA384: "AES256-GCM-SHA384",
  TLS_RSA_WITH_RC4_128_SHA: "",
});

/** Cipher suites of TLS 1.3. They are always enabled, as in Go. */
const TLS_1_3_SUITES = ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"];

/** Upstream's error messages for values of `--tls-cipher-suites`. */
export function cipherSuiteErrors(suites: readonly string[]): string[] {
  return suites
    .filter((name) => !SECURE.has(name) && !INSECURE.has(name))
    .map((name) => `Cipher suite ${name} not supported or doesn't exist`);
}

/** The suites that upstream warns about. */
export function insecureCipherSuites(suites: readonly string[]): string[] {
  return suites.filter((name) => INSECURE.has(name));
}

/** Cipher list for OpenSSL; `undefined`: the default. */
export function openSslCiphers(suites: readonly string[]): string | undefined {
  if (suites.length === 0) return undefined;
  const chosen = suites.map((name) => SECURE.get(name) ?? INSECURE.get(name) ?? "").filter((name) => name !== "");
  return [...new Set([...TLS_1_3_SUITES, ...chosen])].join(":");
}

const VERSIONS: Readonly<Record<string, TlsVersion>> = {
  VersionTLS10: "TLSv1",
  VersionTLS11: "TLSv1.1",
  VersionTLS12: "TLSv1.2",
  VersionTLS13: "TLSv1.3",
};

/** Converts to a Map: user input is looked up, and an object has inherited properties. */
function suiteMap(names: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  return new Map(Object.entries(names));
}

/** `undefined` for `""`: the default. */
export function openSslVersion(version: string): TlsVersion | undefined {
  return VERSIONS[version];
}
