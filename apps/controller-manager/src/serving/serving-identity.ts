import type { Clock } from "@kubewright/clock";
import type { Logger } from "@kubewright/controller";

import type { ServingOptions } from "../options/serving-options.js";
import type { NamedIdentity, ServingIdentity } from "./secure-listener.js";
import type { ServingIo } from "./serving-io.js";

/** A certificate to serve with, and the files to read it from again. */
export interface LoadedIdentity {
  readonly identity: ServingIdentity;
  /** `undefined`: it is in memory only. */
  readonly files: { readonly cert: string; readonly key: string } | undefined;
}

export interface IdentityDeps {
  readonly io: Pick<ServingIo, "readFile" | "checkIdentity" | "writeFile" | "selfSigned">;
  readonly clock: Pick<Clock, "now">;
  readonly logger: Logger;
}

/** Another certificate, for the names it is for. */
export interface LoadedNamedIdentity extends NamedIdentity {
  readonly files: { readonly cert: string; readonly key: string };
}

/** What upstream calls the pair of files in `--cert-dir`. */
const PAIR_NAME = "kube-controller-manager";

type IdentityOptions = Pick<ServingOptions, "tlsCertFile" | "tlsPrivateKeyFile" | "certDir" | "bindAddress">;

/**
 * The given certificate; else the one in the given folder, made there when it is not; else one that is made for this run.
 *
 * @throws Error that names the file which cannot be read or written.
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
 * The certificates of `--tls-sni-cert-key`: `crt,key[:name,name]` each.
 *
 * @throws Error that names what cannot be read.
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

/** Reads both. @throws Error that names the file which cannot be read, or both when they cannot be used together. */
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

/** Whoever listens everywhere is asked for as localhost from here; others know the address. */
function hostsOf(bindAddress: string): string[] {
  const unspecified = bindAddress === "0.0.0.0" || bindAddress === "::";
  return [...new Set(["localhost", "127.0.0.1", ...(unspecified ? [] : [bindAddress])])];
}
