import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";

import { type ApiError, statusError } from "../api-error.js";

/** Host and port of a URL or a `Host` header. */
interface Authority {
  /** In lower case; an IPv6 address without its brackets. */
  readonly host: string;
  /** `""`: the default port of the scheme. */
  readonly port: string;
}

/**
 * Protects a server without authentication from web pages. A browser that can reach the server forwards requests of
 * every page it shows. `Origin` and `Sec-Fetch-Site` reveal pages of other sites. `Host` reveals pages whose host name
 * was made to resolve to this server (DNS rebinding). Other programs send no such headers and use a known name of the
 * server.
 *
 * Differs from kube-apiserver, which checks none of these headers and refuses writes without credentials.
 */
export class CrossOriginGuard {
  readonly #names = new Set(["localhost"]);
  readonly #addresses = loopback();

  /**
   * @param host - Address that the server listens on.
   * @param allowedHosts - Additional names and addresses of the server, without ports.
   * @throws Error for an entry that is neither a host name nor an IP address.
   */
  constructor(host: string, allowedHosts: readonly string[]) {
    this.#allow(parseHost(host) ?? "localhost");
    for (const allowed of allowedHosts) {
      const name = parseHost(allowed);
      if (name === undefined)
        throw new Error(`allowedHosts: ${JSON.stringify(allowed)} is neither a host name nor an IP address`);
      this.#allow(name);
    }
  }

  /** Returns the 403 for a request without credentials; `undefined` if it is allowed. */
  refusal({ url = "", headers, headersDistinct, socket }: IncomingMessage): ApiError | undefined {
    const asked = [...authorityOfTarget(url), ...(headersDistinct["host"] ?? [])];
    const authorities = asked.map(parseAuthority);
    const isKnown = authorities.every(
      (each) => each !== undefined && this.#isKnownHost(each.host, socket.localAddress),
    );
    const authority = authorities[0];
    if (authority === undefined || !isKnown) return unknownHost(asked);
    const { origin } = headers;
    if (origin !== undefined && !isOriginOf(origin, authority)) return otherSite("Origin", origin);
    const site = headers["sec-fetch-site"];
    // A page on another port is of the same site, but is not served by this server.
    const isOwn = site === "same-origin" || site === "none" || (site === "same-site" && origin !== undefined);
    return site === undefined || isOwn ? undefined : otherSite("Sec-Fetch-Site", site);
  }

  #allow(host: string): void {
    const family = familyOf(host);
    if (family === undefined) this.#names.add(host);
    else this.#addresses.addAddress(host, family);
  }

  #isKnownHost(host: string, localAddress: string | undefined): boolean {
    const family = familyOf(host);
    if (family === undefined) return this.#names.has(host);
    // The local address of the connection cannot be a name that an attacker made resolve here.
    return this.#addresses.check(host, family) || isSameAddress(host, localAddress);
  }
}

/** Whether a server that listens on the host is reachable only from this machine: `localhost`, 127.0.0.0/8 or ::1. */
export function isLoopbackHost(host: string): boolean {
  const name = parseHost(host) ?? "";
  const family = familyOf(name);
  return family === undefined ? name === "localhost" : loopback().check(name, family);
}

/**
 * Normalizes a host name or IP address: lower case, without brackets, zone or final dot. Returns `undefined` when it is
 * neither.
 */
export function parseHost(text: string): string | undefined {
  const bare = text.toLowerCase().replace(/^\[([^[\]]*:[^[\]]*)\]$/, "$1");
  if (isIP(bare) !== 0) return bare.replace(/%.*/, "");
  const name = bare.replace(/\.$/, "");
  return /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(name) ? name : undefined;
}

function loopback(): BlockList {
  const list = new BlockList();
  list.addSubnet("127.0.0.0", 8, "ipv4");
  list.addAddress("::1", "ipv6");
  return list;
}

function familyOf(host: string): "ipv4" | "ipv6" | undefined {
  const version = isIP(host);
  return version === 0 ? undefined : version === 4 ? "ipv4" : "ipv6";
}

/** Compares addresses in any notation, including IPv4 mapped to IPv6. */
function isSameAddress(host: string, address = ""): boolean {
  const bare = parseHost(address) ?? "";
  const [family, hostFamily] = [familyOf(bare), familyOf(host)];
  if (family === undefined || hostFamily === undefined) return false;
  const list = new BlockList();
  list.addAddress(bare, family);
  return list.check(host, hostFamily);
}

/** An absolute request target contains the host, and the `Host` header is then ignored: RFC 9112, section 3.2.2. */
function authorityOfTarget(url: string): string[] {
  const authority = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(url)?.[1];
  return authority === undefined ? [] : [authority];
}

/** `undefined`: no host, or a form that no client sends, such as with a user or a zone. */
function parseAuthority(text: string): Authority | undefined {
  const [, host = "", port = ""] = /^(\[[^[\]%]*\]|[^[\]:%]*)(?::(\d{0,5}))?$/.exec(text) ?? [];
  const name = parseHost(host);
  return name === undefined ? undefined : { host: name, port };
}

/**
 * Whether the origin's host is the requested host. The scheme may differ because of a proxy. The same comparison as in
 * Go's `net/http` `CrossOriginProtection`.
 */
function isOriginOf(origin: string, { host, port }: Authority): boolean {
  const [, scheme, rest] = /^(https?):\/\/(.*)$/.exec(origin) ?? [];
  const page = rest === undefined ? undefined : parseAuthority(rest);
  const usual = scheme === "https" ? "443" : "80";
  return page !== undefined && page.host === host && (page.port || usual) === (port || usual);
}

function unknownHost(asked: readonly string[]): ApiError {
  const names = asked.length === 0 ? "no host" : `the host ${asked.map((name) => JSON.stringify(name)).join(" and ")}`;
  return refused(
    `the request is for ${names}, which this server does not know itself by: ask for localhost or 127.0.0.1, allow the name (kubewright serve --allowed-hosts), or show credentials`,
  );
}

function otherSite(header: string, value: string): ApiError {
  return refused(
    `the request comes from a page of another site (${header} ${JSON.stringify(value)}): type the address, or show credentials`,
  );
}

function refused(why: string): ApiError {
  return statusError(403, "Forbidden", `forbidden: ${why}`, {}, { "x-content-type-options": "nosniff" });
}
