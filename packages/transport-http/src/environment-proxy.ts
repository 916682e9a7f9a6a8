import { BlockList, isIP } from "node:net";

import type { Environment } from "./environment.js";

/**
 * Returns the proxy for a server from the environment: `HTTPS_PROXY` or `HTTP_PROXY`, depending on the server's scheme,
 * unless `NO_PROXY` exempts the server. Lower-case names are accepted too. The local machine is never reached through a
 * proxy.
 *
 * `NO_PROXY` lists host names, IP addresses and CIDR ranges, each optionally with a port, or `*` for everything. A host
 * name includes its subdomains; `.example.com` matches only the subdomains.
 *
 * @throws Error if the proxy is not an http or https URL.
 * @see golang.org/x/net/http/httpproxy, which client-go uses
 */
export function proxyFromEnvironment(server: URL, env: Environment): string | undefined {
  const name = server.protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY";
  const proxy = env[name] || env[name.toLowerCase()];
  if (!proxy || isLoopback(server) || isExempt(server, env["NO_PROXY"] || env["no_proxy"] || "")) return undefined;
  const text = proxy.includes("://") ? proxy : `http://${proxy}`;
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new Error(`${name}: ${JSON.stringify(proxy)} is not an http or https URL`);
  }
  return text;
}

/** Whether a server is on the local machine. */
export function isLoopback(server: URL): boolean {
  const host = hostOf(server);
  return host === "localhost" || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host);
}

function isExempt(server: URL, list: string): boolean {
  const port = server.port || (server.protocol === "https:" ? "443" : "80");
  return list
    .split(",")
    .map((item) => item.trim().toLowerCase())
    .some((item) => item === "*" || (item !== "" && matches(item, hostOf(server), port)));
}

function matches(item: string, host: string, port: string): boolean {
  if (item.includes("/")) return isInRange(host, item);
  const [, name = item, wantedPort] = /^(\[[^\]]+\]|[^:]*):(\d+)$/.exec(item) ?? [];
  if (wantedPort !== undefined && wantedPort !== port) return false;
  const wanted = name.replace(/^\[|\]$/g, "").replace(/^\*\./, ".");
  if (isIP(wanted)) return wanted === host;
  return wanted.startsWith(".") ? host.endsWith(wanted) : host === wanted || host.endsWith(`.${wanted}`);
}

function isInRange(host: string, range: string): boolean {
  const [address = "", prefix = ""] = range.split("/");
  const family = isIP(address);
  if (family === 0 || isIP(host) !== family || !/^\d{1,3}$/.test(prefix) || Number(prefix) > (family === 4 ? 32 : 128))
    return false;
  const type = family === 4 ? "ipv4" : "ipv6";
  const list = new BlockList();
  list.addSubnet(address, Number(prefix), type);
  return list.check(host, type);
}

function hostOf(server: URL): string {
  return server.hostname.toLowerCase().replace(/^\[|\]$/g, "");
}
