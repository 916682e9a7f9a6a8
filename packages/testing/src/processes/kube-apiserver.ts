import { generateKeyPairSync, randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { type RequestOptions, get as getHttp } from "node:http";
import { get as getHttps } from "node:https";
import path from "node:path";

import { type Child, startChild } from "./child-process.js";
import { freePort } from "./free-port.js";
import type { StartedServer } from "./started-server.js";

const MAX_START_MS = 120_000;
const PAUSE_MS = 200;
const HOST = "127.0.0.1";

/** Returns why no real API server is available and how to install one; `undefined` when it is available. */
export function missingKubeApiServer(assets: string | undefined): string | undefined {
  const how =
    "set it to a folder with kube-apiserver and etcd, such as `setup-envtest use 1.36 -p path` prints (go install sigs.k8s.io/controller-runtime/tools/setup-envtest@latest)";
  if (assets === undefined || assets === "") return `KUBEBUILDER_ASSETS is not set: ${how}`;
  const missing = ["kube-apiserver", "etcd"].filter((name) => !existsSync(path.join(assets, name)));
  return missing.length === 0 ? undefined : `KUBEBUILDER_ASSETS (${assets}) has no ${missing.join(" and no ")}: ${how}`;
}

/**
 * Starts a real kube-apiserver and its etcd from a folder (the envtest convention), on free ports of this machine. No
 * other component of Kubernetes runs: no controller, scheduler or kubelet.
 *
 * @param folder - Folder for their files.
 * @throws Error with their output when they do not become ready.
 */
export async function startKubeApiServer(assets: string, folder: string): Promise<StartedServer> {
  const children: Child[] = [];
  const stop = async (): Promise<void> => {
    for (const child of children.splice(0).reverse()) await child.stop();
  };
  try {
    const etcd = await startEtcd(assets, folder);
    children.push(etcd.child);
    await answers(etcd.child, `${etcd.url}/health`);
    const server = await startServer(assets, folder, etcd.url);
    children.push(server.child);
    return { ...(await whenReady(server, folder)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startEtcd(assets: string, folder: string): Promise<{ url: string; child: Child }> {
  const url = `http://${HOST}:${await freePort()}`;
  const peers = `http://${HOST}:${await freePort()}`;
  const child = startChild("etcd", path.join(assets, "etcd"), [
    `--data-dir=${path.join(folder, "etcd")}`,
    `--listen-client-urls=${url}`,
    `--advertise-client-urls=${url}`,
    `--listen-peer-urls=${peers}`,
    `--initial-advertise-peer-urls=${peers}`,
    `--initial-cluster=default=${peers}`,
    "--unsafe-no-fsync=true",
    "--log-level=error",
  ]);
  return { url, child };
}

interface LaunchedServer {
  readonly url: string;
  readonly token: string;
  /** Path of the server's self-generated certificate and of the authority that signed it. */
  readonly certificate: string;
  readonly child: Child;
}

async function startServer(assets: string, folder: string, etcd: string): Promise<LaunchedServer> {
  const port = await freePort();
  const url = `https://${HOST}:${port}`;
  const token = randomBytes(16).toString("hex");
  const certificates = path.join(folder, "apiserver");
  mkdirSync(certificates, { recursive: true });
  const tokens = path.join(folder, "tokens.csv");
  writeFileSync(tokens, `${token},kubernetes-admin,admin,"system:masters"\n`, { mode: 0o600 });
  const { privateKey, publicKey } = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs1", format: "pem" },
  });
  const signingKey = path.join(folder, "service-account.key");
  const verifyingKey = path.join(folder, "service-account.pub");
  writeFileSync(signingKey, privateKey, { mode: 0o600 });
  writeFileSync(verifyingKey, publicKey);
  const child = startChild("kube-apiserver", path.join(assets, "kube-apiserver"), [
    `--etcd-servers=${etcd}`,
    `--bind-address=${HOST}`,
    `--advertise-address=${HOST}`,
    `--secure-port=${port}`,
    `--cert-dir=${certificates}`,
    `--token-auth-file=${tokens}`,
    "--authorization-mode=RBAC",
    `--service-account-issuer=${url}`,
    `--service-account-key-file=${verifyingKey}`,
    `--service-account-signing-key-file=${signingKey}`,
    "--service-cluster-ip-range=10.0.0.0/24",
    // No controller creates the default ServiceAccount of a namespace, which pods would otherwise wait for.
    "--disable-admission-plugins=ServiceAccount",
    "--profiling=false",
  ]);
  return { url, token, certificate: path.join(certificates, "apiserver.crt"), child };
}

async function whenReady(
  { url, token, certificate, child }: LaunchedServer,
  folder: string,
): Promise<Omit<StartedServer, "stop">> {
  const authorization = `Bearer ${token}`;
  await answers(child, `${url}/readyz`, { headers: { authorization } });
  const kubeconfig = path.join(folder, "kubeconfig");
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      {
        name: "envtest",
        cluster: { server: url, "certificate-authority-data": readFileSync(certificate).toString("base64") },
      },
    ],
    users: [{ name: "envtest", user: { token } }],
    contexts: [{ name: "envtest", context: { cluster: "envtest", user: "envtest" } }],
    "current-context": "envtest",
  };
  // JSON is valid YAML.
  writeFileSync(kubeconfig, JSON.stringify(config, null, 2), { mode: 0o600 });
  return { url, token, kubeconfig };
}

/** Resolves when the URL answers with status 200. The certificate is not verified. */
async function answers(child: Child, url: string, options: RequestOptions = {}): Promise<void> {
  const deadline = performance.now() + MAX_START_MS;
  let last = "no answer";
  while (performance.now() < deadline) {
    if (child.ended() !== undefined) break;
    const answer = await status(url, options).catch((error: Error) => error.message);
    if (answer === 200) return;
    last = String(answer);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  throw new Error(`${child.name} ${child.ended() ?? `was not ready in time (${url}: ${last})`}:\n${child.output()}`);
}

function status(url: string, options: RequestOptions): Promise<number | undefined> {
  const get = url.startsWith("https:") ? getHttps : getHttp;
  return new Promise((resolve, reject) => {
    const request = get(url, { ...options, agent: false, rejectUnauthorized: false, timeout: 5_000 }, (response) => {
      response.resume();
      response.once("end", () => resolve(response.statusCode));
      response.once("error", reject);
    });
    request.once("timeout", () => request.destroy(new Error("no answer within 5 s")));
    request.once("error", reject);
  });
}
