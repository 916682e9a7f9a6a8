import type { Clock } from "@kubewright/clock";

import { CertificateFiles } from "./certificate-files.js";
import type { ConnectionOptions } from "./connection-options.js";
import { ExecIdentity } from "./exec-identity.js";
import type { Identity, IdentitySource } from "./identity-source.js";
import { TokenFile } from "./token-file.js";

export interface IdentityOptions {
  readonly clock: Clock;
  /** Time-out for a credential plugin. */
  readonly pluginTimeoutMs: number;
  readonly warn: (message: string) => void;
}

/**
 * Chooses the authentication method: token file, token, basic authentication, credential plugin, or none. A client
 * certificate in files is combined with any of them.
 *
 * @throws Error if the options contain two methods (client-go `transport.HTTPWrappersForConfig`), or if a plugin's
 * version is unsupported, even if the plugin would not run.
 */
export function identitySource(connection: ConnectionOptions, options: IdentityOptions): IdentitySource {
  const { cert, key, certFile, keyFile } = connection;
  const inner = headerSource(connection, options);
  if (!cert || !key || !certFile || !keyFile) return inner;
  return new CertificateFiles({ cert, key, certFile, keyFile, inner, clock: options.clock });
}

function headerSource(
  connection: ConnectionOptions,
  { clock, pluginTimeoutMs: timeoutMs, warn }: IdentityOptions,
): IdentitySource {
  const { token, tokenFile, username, password, cert, exec } = connection;
  const basic = Boolean(username) || Boolean(password);
  if (basic && (token || tokenFile)) throw new Error("username/password or bearer token may be set, but not both");
  const plugin =
    exec === undefined ? undefined : new ExecIdentity({ plugin: exec, connection, clock, timeoutMs, warn });
  if (tokenFile) return new TokenFile({ path: tokenFile, clock, initial: token });
  if (token) return fixedIdentity(`Bearer ${token}`);
  if (basic) return fixedIdentity(`Basic ${Buffer.from(`${username ?? ""}:${password ?? ""}`).toString("base64")}`);
  if (plugin !== undefined && !cert) return plugin;
  return fixedIdentity(undefined);
}

function fixedIdentity(authorization: string | undefined): IdentitySource {
  const identity: Identity = authorization === undefined ? {} : { authorization };
  return { current: () => identity };
}
