import type { Clock } from "@kubewright/clock";
import type { Logger } from "@kubewright/controller";

import type { ServingOptions } from "../options/serving-options.js";
import type { NamedIdentity, ServingIdentity } from "./secure-listener.js";
import type { ServingIo } from "./serving-io.js";

/** A serving certificate, and the files that it is reloaded from. */
export interface LoadedIdentity {
  readonly identity: ServingIdentity;
  /** `undefined`: the certificate exists in memory only. */
  readonly files: { readonly cert: string; readonly key: string } | undefined;
}

export interface IdentityDeps {
  readonly io: Pick<ServingIo, "readFile" | "checkIdentity" | "writeFile" | "selfSigned">;
  readonly clock: Pick<Clock, "now">;
  readonly logger: Logger;
}

/** A certificate for other host names. */
export interface LoadedNamedIdentity extends NamedIdentity {
  readonly files: { readonly cert: string; readonly key: string };
}

/** Upstream's name of the two files in `--cert-dir`. */
const PAIR_NAME = "kube-controller-manager";

type IdentityOptions = Pick<ServingOptions, "tlsCertFile" | "tlsPrivateKeyFile" | "certDir" | "bindAddress">;

/**
 * Loads the given certificate, else the one in `--cert-dir`, which is created if missing. Without either, generates a
 * certificate for this run.
 *
 * @throws Error with the file that cannot be read or written.
 * @see kubernetes v1.36 staging/src/k8s.io/apiserver/pkg/server/options/serving.go MaybeDefaultWithSelfSignedCerts
 */
export async function loadIdentity(options: IdentityOptions, deps: IdentityDeps): Promise<LoadedIdentity> {
  const { io, clock, logger } = deps;
  const { tlsCertFile, tlsPrivateKeyFile, certDir, bindAddress } = options;
  if (tlsCertFile !== "") {
    const files = { cert: tlsCertFile, key: tlsPrivateKeyFile };
    return { files, identity: await readPair(io, files) };
  }
  const folder = certDir.replace(/\/+$/, "");
  const files = { cert: `${folder}/${PAIR_NAME}.crt`, key: `${folder}/${PAIR_NAME}.key` };
  const stored = certDir === "" ? undefined : await readPair(io, files).catch(ifMissing);
  if (stored !== undefined) return { files, identity: stored };
  const identity = await io.selfSigned(hostsOf(bindAddress), clock.now());
  if (certDir === "") {
    logger.info({}, "Generated self-signed cert in-memory");
    return { files: undefined, identity };
  }
  await io.writeFile(files.cert, identity.cert);
  await io.writeFile(files.key, identity.key, { isPrivate: true });
  logger.info({}, `Generated self-signed cert (${files.cert}, ${files.key})`);
  return { files, identity };
}

/**
 * Loads the certificates of `--tls-sni-cert-key`, each `crt,key[:name,name]`.
 *
 * @throws Error with the flag value or file that is invalid.
 */
export async function loadNamedIdentities(
  flags: readonly string[],
  io: Pick<ServingIo, "readFile" | "checkIdentity">,
): Promise<LoadedNamedIdentity[]> {
  const loading = flags.map(async (flag): Promise<LoadedNamedIdentity> => {
    const [, cert, key, names = ""] = /^([^,:]+),([^,:]+)(?::(.*))?$/.exec(flag) ?? [];
    if (cert === undefined || key === undefined) {
      throw new Error(
        `--tls-sni-cert-key ${JSON.stringify(flag)}: expected comma separated certificate and key file paths`,
      );
    }
    const files = { cert, key };
    const given = names.split(",").filter((name) => name !== "");
    return { files, names: given.map((name) => name.toLowerCase()), identity: await readPair(io, files) };
  });
  return Promise.all(loading);
}

/**
 * Reads certificate and key.
 *
 * @throws Error with the file that cannot be read, or with both files when they do not match.
 */
export async function readPair(
  io: Pick<ServingIo, "readFile" | "checkIdentity">,
  { cert, key }: { cert: string; key: string },
): Promise<ServingIdentity> {
  const identity = { cert: await io.readFile(cert), key: await io.readFile(key) };
  try {
    io.checkIdentity(identity);
  } catch (error) {
    throw new Error(`certificate ${cert} and key ${key} cannot be used`, { cause: error });
  }
  return identity;
}

function ifMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
}

/** Host names of a self-signed certificate: localhost, and the bind address if it is specific. */
function hostsOf(bindAddress: string): string[] {
  const unspecified = bindAddress === "0.0.0.0" || bindAddress === "::";
  return [...new Set(["localhost", "127.0.0.1", ...(unspecified ? [] : [bindAddress])])];
}
