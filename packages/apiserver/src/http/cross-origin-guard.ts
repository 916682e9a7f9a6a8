import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";

import { type ApiError, statusError } from "../api-error.js";

/** Whom a URL or a `Host` header asks for. */
interface Authority {
  /** In lower case; an IPv6 address without its brackets. */
  readonly host: string;
  /** `""`: the one that goes with the scheme. */
  readonly port: string;
}

/**
 * Keeps web pages away from a server that asks nobody who they are. A browser that can reach it brings it requests of every
 * page it shows: of other sites, as `Origin` and `Sec-Fetch-Site` tell, and of those whose own name was made to lead here
 * (DNS rebinding), as `Host` tells. Other programs send no such headers, and call the server by a name of its own.
 *
 * Differs from kube-apiserver, which looks at none of this, and lets nobody write who shows no credentials.
 */
export class CrossOriginGuard {
  readonly #names = new Set(["localhost"]);
  readonly #addresses = loopback();

  /**
   * @param host - Where the server listens.
   * @param allowedHosts - More names and addresses that it is asked for by, without ports.
   * @throws Error naming one of them that is neither.
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

  /** Why a request is refused if it shows no credentials, as a 403. `undefined`: it is not. */
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
    // Another port is the same site, and none of ours.
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
    // The address that a connection came to is no name that somebody made lead here.
    return this.#addresses.check(host, family) || isSameAddress(host, localAddress);
  }
}

/** Whether a server that listens there is reached from this machine alone: `localhost`, 127.0.0.0/8 or ::1. */
export function isLoopbackHost(host: string): boolean {
  const name = parseHost(host) ?? "";
  const family = familyOf(name);
  return family === undefined ? name === "localhost" : loopback().check(name, family);
}

/** A host name or IP address in lower case, without brackets, zone or final dot. `undefined`: it is neither. */
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

/** However each of them is written, IPv4 within IPv6 too. */
function isSameAddress(host: string, address = ""): boolean {
  const bare = parseHost(address) ?? "";
  const [family, hostFamily] = [familyOf(bare), familyOf(host)];
  if (family === undefined || hostFamily === undefined) return false;
  const list = new BlockList();
  list.addAddress(bare, family);
  return list.check(host, hostFamily);
}

/** A target may name a host itself, before which the header means nothing: RFC 9112, section 3.2.2. */
function authorityOfTarget(url: string): string[] {
  const authority = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(url)?.[1];
  return authority === undefined ? [] : [authority];
}

/** `undefined`: no host, or one written as no client writes it, such as with a user or a zone. */
function parseAuthority(text: string): Authority | undefined {
  const [, host = "", port = ""] = /^(\[[^[\]%]*\]|[^[\]:%]*)(?::(\d{0,5}))?$/.exec(text) ?? [];
  const name = parseHost(host);
  return name === undefined ? undefined : { host: name, port };
}

/**
 * Whether pages of that origin are those of the host that was asked for. The scheme may be another: that of a proxy in
 * front. The same comparison as in Go's `net/http` `CrossOriginProtection`.
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
