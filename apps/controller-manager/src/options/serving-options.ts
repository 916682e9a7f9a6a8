import { type OptionsOf, option, optionGroup } from "../flag.js";
import { bool, int32, ip, list, repeated, text, textNamed } from "../flag-types.js";
import { cipherSuiteErrors } from "../serving/tls-settings.js";

/** Options of the HTTPS server. */
export const servingOptions = optionGroup("Secure serving", {
  bindAddress: option(ip, "0.0.0.0", "address to listen on; 0.0.0.0 or ::: all of both families"),
  /** 0: no server. */
  securePort: option(int32, 10_257, "port of the HTTPS server; 0: no server"),
  /** `""`: a self-signed certificate exists in memory only. */
  certDir: option(textNamed("path"), "", "where a self-signed certificate is kept; default: in memory only"),
  tlsCertFile: option(textNamed("path"), "", "certificate of the server, read again when it changes"),
  tlsPrivateKeyFile: option(textNamed("path"), "", "its private key"),
  /** Go's names. */
  tlsCipherSuites: option(list, [], "cipher suites of TLS 1.2, by Go's names"),
  /** `""`: TLS 1.2. */
  tlsMinVersion: option(text, "", "VersionTLS12 (the default) or VersionTLS13, or an earlier one"),
  tlsCurvePreferences: option(list, [], "accepted for compatibility"),
  /** Items `crt,key[:domain,domain]`. */
  tlsSniCertKeys: option(repeated, [], "crt,key[:domain,…] for other host names; may be repeated", "tls-sni-cert-key"),
  http2MaxStreamsPerConnection: option(int32, 0, "0: the library's default"),
  disableHttp2Serving: option(bool, false, "serve HTTP/1.1 only"),
  permitAddressSharing: option(bool, false, "accepted for compatibility (SO_REUSEADDR)"),
  permitPortSharing: option(bool, false, "accepted for compatibility (SO_REUSEPORT)"),
});

export type ServingOptions = OptionsOf<typeof servingOptions>;

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
