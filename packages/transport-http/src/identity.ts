import type { Clock } from "@kubewright/clock";

import { CertificateFiles } from "./certificate-files.js";
import type { ConnectionOptions } from "./connection-options.js";
import { ExecIdentity } from "./exec-identity.js";
import { TokenFile } from "./token-file.js";

/** What a request shows to be let in. The same object as long as it is the same credential. */
export interface Identity {
  readonly authorization?: string;
  readonly cert?: string;
  readonly key?: string;
}

export interface IdentitySource {
  /** What to show now. Not a promise when there is nothing to wait for. */
  current(): Identity | Promise<Identity>;
  /** The server answered 401 to it. */
  rejected?(identity: Identity): void;
  /** Nobody asks any more. */
  close?(): void;
}

export interface IdentityOptions {
  readonly clock: Clock;
  /** How long a credential plugin may take. */
  readonly pluginTimeoutMs: number;
  readonly warn: (message: string) => void;
}

/**
 * Picks the way to authenticate: token file, token, basic, credential plugin, nothing; and a client certificate
 * that is kept in files beside any of them.
 *
 * @throws Error when the options ask for two ways at once (client-go `transport.HTTPWrappersForConfig`), or a plugin's
 *   version is not understood, whether it would be run or not.
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
