import { readFile } from "node:fs/promises";

import { type DeepReadonly, type Secret, secrets } from "@kubewright/api";
import { type Client, isAlreadyExists, isConflict, isNotFound } from "@kubewright/client";
import type { Clock } from "@kubewright/clock";

import { type OwnCertificate, type WebhookCertificate, canSign, isUsable, makeCertificate } from "./certificate.js";

/** Source of a server's certificate: called at the start, and periodically after that. */
export type CertificateSource = () => Promise<WebhookCertificate>;

/**
 * Reads certificate, key and optional authorities from PEM files.
 *
 * @throws Error with the name of the file.
 */
export function certificateFiles(files: {
  readonly cert: string;
  readonly key: string;
  readonly ca?: string | undefined;
}): CertificateSource {
  return async () => {
    const [cert, key] = [await readText(files.cert), await readText(files.key)];
    return { cert, key, ...(files.ca === undefined ? {} : { ca: await readText(files.ca) }) };
  };
}

/** Generates a certificate in memory: for tests and single replicas. */
export function ownCertificate(hosts: readonly string[], clock: Clock): CertificateSource {
  let made: OwnCertificate | undefined;
  return async () => {
    const now = clock.now();
    if (made === undefined || !isUsable(made, hosts, now))
      made = await makeCertificate(hosts, now, made !== undefined && canSign(made, now) ? made : undefined);
    return publicPart(made);
  };
}

const MAX_ATTEMPTS = 5;

/**
 * A certificate that all replicas share in a Secret. The first replica generates it. Any replica that finds it close to
 * expiry generates the next one, with the same authority.
 */
export function sharedCertificate(
  client: Pick<Client, "resource">,
  secret: { readonly name: string; readonly namespace: string },
  hosts: readonly string[],
  clock: Clock,
): CertificateSource {
  const stored = client.resource(secrets);
  const metadata = { ...secret };
  return async () => {
    for (let attempt = 1; ; attempt++) {
      const found = await stored.get(secret.name, { namespace: secret.namespace }).catch((error: unknown) => {
        if (isNotFound(error)) return undefined;
        throw error;
      });
      const now = clock.now();
      const before = found === undefined ? undefined : fromSecret(found);
      if (before !== undefined && isUsable(before, hosts, now)) return publicPart(before);
      const made = await makeCertificate(hosts, now, before !== undefined && canSign(before, now) ? before : undefined);
      try {
        if (found === undefined) await stored.create({ metadata, type: "kubernetes.io/tls", data: toData(made) });
        else await stored.update({ ...found, data: { ...found.data, ...toData(made) } });
        return publicPart(made);
      } catch (error) {
        // Another replica was first: use its certificate.
        if (attempt >= MAX_ATTEMPTS || !(isAlreadyExists(error) || isConflict(error))) throw error;
      }
    }
  };
}

function publicPart({ cert, key, ca }: OwnCertificate): WebhookCertificate {
  return { cert, key, ca };
}

function toData({ cert, key, ca, caKey }: OwnCertificate): Record<string, string> {
  const files = { "tls.crt": cert, "tls.key": key, "ca.crt": ca, "ca.key": caKey };
  return Object.fromEntries(Object.entries(files).map(([name, text]) => [name, Buffer.from(text).toString("base64")]));
}

function fromSecret({ data = {} }: DeepReadonly<Secret>): OwnCertificate {
  const text = (name: string): string => Buffer.from(data[name] ?? "", "base64").toString();
  return { cert: text("tls.crt"), key: text("tls.key"), ca: text("ca.crt"), caKey: text("ca.key") };
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    const explained = { ENOENT: "no such file", EACCES: "permission denied", EISDIR: "is a directory" }[code];
    throw new Error(`cannot read ${path}: ${explained ?? message}`, { cause: error });
  }
}
