import { createHmac, randomBytes } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { dirname } from "node:path";
import { createSecureContext } from "node:tls";

import { replaceFile } from "@kubewright/transport-http/file-replacement";

import { listenSecurely } from "./node-secure-listener.js";
import type { ServingIdentity } from "./secure-listener.js";
import type { ServingIo } from "./serving-io.js";

const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;

/** Sockets and files of this machine. */
export function nodeServingIo(): ServingIo {
  const key = randomBytes(32);
  return {
    listen: listenSecurely,
    readFile: readText,
    writeFile: async (path, text, { isPrivate = false } = {}) => {
      await mkdir(dirname(path), { recursive: true, mode: 0o755 });
      await replaceFile(path, text, isPrivate ? { mode: 0o600 } : {});
    },
    selfSigned,
    checkIdentity: (identity) => void createSecureContext({ ...identity }),
    hash: (text) => createHmac("sha256", key).update(text).digest("base64"),
  };
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    const explained = {
      ENOENT: `open ${path}: no such file or directory`,
      EACCES: `open ${path}: permission denied`,
      EISDIR: `read ${path}: is a directory`,
    }[code];
    // Go's message; without a cause, which would repeat it.
    throw Object.assign(new Error(explained ?? `read ${path}: ${message}`), { code });
  }
}

async function selfSigned(hosts: readonly string[], nowMs: number): Promise<ServingIdentity> {
  // Loaded only without a certificate: loading takes a tenth of a second, and some megabytes permanently.
  const { generate } = await import("selfsigned");
  const { cert, private: key } = await generate([{ name: "commonName", value: hosts[0] ?? "localhost" }], {
    keyType: "ec",
    curve: "P-256",
    algorithm: "sha256",
    notBeforeDate: new Date(nowMs - HOUR_MS),
    notAfterDate: new Date(nowMs + YEAR_MS),
    extensions: [
      { name: "basicConstraints", cA: false, critical: true },
      { name: "keyUsage", digitalSignature: true, critical: true },
      { name: "extKeyUsage", serverAuth: true },
      {
        name: "subjectAltName",
        altNames: hosts.map((host) =>
          isIP(host) ? { type: 7 as const, ip: host } : { type: 2 as const, value: host },
        ),
      },
    ],
  });
  return { cert, key };
}
