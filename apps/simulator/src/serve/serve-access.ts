import { isLoopbackHost, parseHost } from "@kubewright/apiserver/http";
import type { ClusterOptions } from "@kubewright/cluster";

import type { Io } from "../io/io.js";
import { UserError } from "@kubewright/analysis/errors";

/** Flags that control access to the server. */
export interface AccessFlags {
  readonly host: string;
  readonly tls?: boolean;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly kubeconfig?: string;
  readonly allowedHosts?: string;
  readonly allowAnonymous?: boolean;
}

/** Access settings of the server. */
export interface ServeAccess {
  /** `undefined`: requests need no credentials. */
  readonly authentication: ClusterOptions["authentication"];
  /** Additional names and addresses in the Host header of clients without credentials. */
  readonly allowedHosts: readonly string[];
}

/**
 * Resolves the access settings. Clients on this machine need no credentials, unless there is a token, or with TLS the
 * kubeconfig's client certificate.
 *
 * @throws UserError when other machines could connect without credentials, when no client could authenticate, or for an
 * invalid flag.
 */
export async function resolveAccess(flags: AccessFlags, io: Pick<Io, "readFile">): Promise<ServeAccess> {
  const { host, tls = false, token, tokenFile, kubeconfig, allowAnonymous = false } = flags;
  if (token === "") throw new UserError("--token: must not be empty");
  if (parseHost(host) === undefined)
    throw new UserError(`--host: ${JSON.stringify(host)} is neither an address nor a host name`);
  const allowedHosts = parseAllowedHosts(flags.allowedHosts ?? "");
  const hasTokens = token !== undefined || tokenFile !== undefined;
  if (tls && !hasTokens && kubeconfig === undefined && !allowAnonymous) {
    throw new UserError(
      "--tls: no client could authenticate: add --kubeconfig, for the client certificate that is written into it, or --token or --token-file",
    );
  }
  if (!tls && !hasTokens && !isLoopbackHost(host) && !allowAnonymous) {
    throw new UserError(
      `--host: other machines could do anything at ${host}: add --token or --token-file, or --tls with --kubeconfig; --allow-anonymous accepts every client`,
    );
  }
  if (!tls && !hasTokens) return { authentication: undefined, allowedHosts };
  const authentication = {
    anonymous: allowAnonymous,
    ...(token === undefined
      ? {}
      : { tokens: { [token]: { username: "kubernetes-admin", groups: ["system:masters"] } } }),
    ...(tokenFile === undefined ? {} : { tokenFile: await readTokens(tokenFile, io) }),
  };
  return { authentication, allowedHosts };
}

function parseAllowedHosts(list: string): string[] {
  const items = list.split(",").map((item) => item.trim());
  return items
    .filter((item) => item !== "")
    .map((item) => {
      const host = parseHost(item);
      if (host !== undefined) return host;
      throw new UserError(
        `--allowed-hosts: ${JSON.stringify(item)} is neither a host name nor an address without a port`,
      );
    });
}

async function readTokens(path: string, io: Pick<Io, "readFile">): Promise<string> {
  try {
    return await io.readFile(path);
  } catch (error) {
    throw new UserError(`--token-file: cannot read ${path}: ${(error as Error).message}`, { cause: error });
  }
}
