import { flagGroup } from "../flag.js";
import { bool, int32, ip, list, repeated, text, textNamed } from "../flag-types.js";
import { cipherSuiteErrors } from "../serving/tls-settings.js";

/** Options of the HTTPS server. */
export interface ServingOptions {
  readonly bindAddress: string;
  /** 0: no server. */
  readonly securePort: number;
  /** `""`: a self-signed certificate exists in memory only. */
  readonly certDir: string;
  readonly tlsCertFile: string;
  readonly tlsPrivateKeyFile: string;
  /** Go's names. */
  readonly tlsCipherSuites: readonly string[];
  /** `""`: TLS 1.2. */
  readonly tlsMinVersion: string;
  readonly tlsCurvePreferences: readonly string[];
  /** Items `crt,key[:domain,domain]`. */
  readonly tlsSniCertKeys: readonly string[];
  readonly http2MaxStreamsPerConnection: number;
  readonly disableHttp2Serving: boolean;
  readonly permitAddressSharing: boolean;
  readonly permitPortSharing: boolean;
}

export const servingDefaults: ServingOptions = {
  bindAddress: "0.0.0.0",
  securePort: 10_257,
  certDir: "",
  tlsCertFile: "",
  tlsPrivateKeyFile: "",
  tlsCipherSuites: [],
  tlsMinVersion: "",
  tlsCurvePreferences: [],
  tlsSniCertKeys: [],
  http2MaxStreamsPerConnection: 0,
  disableHttp2Serving: false,
  permitAddressSharing: false,
  permitPortSharing: false,
};

export const servingFlags = flagGroup<ServingOptions>("Secure serving", {
  bindAddress: ["bind-address", ip, "address to listen on; 0.0.0.0 or ::: all of both families"],
  securePort: ["secure-port", int32, "port of the HTTPS server; 0: no server"],
  certDir: ["cert-dir", textNamed("path"), "where a self-signed certificate is kept; default: in memory only"],
  tlsCertFile: ["tls-cert-file", textNamed("path"), "certificate of the server, read again when it changes"],
  tlsPrivateKeyFile: ["tls-private-key-file", textNamed("path"), "its private key"],
  tlsCipherSuites: ["tls-cipher-suites", list, "cipher suites of TLS 1.2, by Go's names"],
  tlsMinVersion: ["tls-min-version", text, "VersionTLS12 (the default) or VersionTLS13, or an earlier one"],
  tlsCurvePreferences: ["tls-curve-preferences", list, "accepted for compatibility"],
  tlsSniCertKeys: ["tls-sni-cert-key", repeated, "crt,key[:domain,…] for other host names; may be repeated"],
  http2MaxStreamsPerConnection: ["http2-max-streams-per-connection", int32, "0: the library's default"],
  disableHttp2Serving: ["disable-http2-serving", bool, "serve HTTP/1.1 only"],
  permitAddressSharing: ["permit-address-sharing", bool, "accepted for compatibility (SO_REUSEADDR)"],
  permitPortSharing: ["permit-port-sharing", bool, "accepted for compatibility (SO_REUSEPORT)"],
});

const TLS_VERSIONS = ["VersionTLS10", "VersionTLS11", "VersionTLS12", "VersionTLS13"];

export function servingErrors(options: ServingOptions): string[] {
  const { securePort, tlsMinVersion, tlsCertFile, tlsPrivateKeyFile } = options;
  const errors: string[] = [];
  if (securePort < 0 || securePort > 65_535) {
    errors.push(`--secure-port ${securePort} must be between 0 and 65535, inclusive. 0 for turning off secure port`);
  }
  if ((tlsCertFile === "") !== (tlsPrivateKeyFile === ""))
    errors.push("--tls-cert-file and --tls-private-key-file must be given together");
  if (tlsMinVersion !== "" && !TLS_VERSIONS.includes(tlsMinVersion))
    errors.push(`unknown tls version ${JSON.stringify(tlsMinVersion)}`);
  errors.push(...cipherSuiteErrors(options.tlsCipherSuites));
  if (options.http2MaxStreamsPerConnection < 0) errors.push("--http2-max-streams-per-connection must not be negative");
  return errors;
}
