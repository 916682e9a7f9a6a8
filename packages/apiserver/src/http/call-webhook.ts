import { type RequestOptions, request } from "node:https";
import { isIP } from "node:net";

import { type Clock, realClock } from "@kubewright/clock";

import type { WebhookResponse, WebhookCall, WebhookCaller } from "../webhooks/webhook-call.js";

/** Maximum bytes of a response: the same as for a request. A longer response is an error. */
const MAX_BYTES = 3 * 1024 * 1024;
/** A response may be this many times as long as its request, because lists are sent for conversion. */
const MAX_GROWTH = 4;
const NO_AUTHORITY = "unable to load root certificates: unable to parse bytes as PEM block";
const UNKNOWN_AUTHORITY = new Set([
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

/**
 * Calls webhooks over HTTPS, one connection per call. Always verifies certificates, with the call's authorities or the
 * machine's. Does not follow redirects. Limits responses to 3 MiB or four times the request. Error messages are those
 * of Go.
 */
export const callWebhook: WebhookCaller = (call) => post(call, realClock);

async function post(call: WebhookCall, clock: Clock): Promise<WebhookResponse> {
  const body = JSON.stringify(call.body);
  const target = new URL(call.url);
  const options = { ...optionsFor(call, target), headers: headersFor(target, body) };
  const timeout = new AbortController();
  const timer = clock.setTimer(call.timeoutMs, () => timeout.abort());
  const signal = AbortSignal.any([timeout.signal, call.signal]);
  try {
    return await exchange(options, body, signal);
  } catch (error) {
    if (timeout.signal.aborted) throw new Error("context deadline exceeded", { cause: error });
    if (call.signal.aborted) throw new Error("context canceled", { cause: error });
    throw new Error(reasonOf(error as SystemError, options), { cause: error });
  } finally {
    timer.cancel();
  }
}

type Target = Pick<RequestOptions, "host" | "port" | "path" | "servername" | "ca" | "rejectUnauthorized" | "agent">;

/** @throws Error for an invalid CA bundle. */
function optionsFor({ address, caBundle }: WebhookCall, target: URL): Target {
  const name = hostOf(target);
  const ca = caBundle === undefined ? undefined : Buffer.from(caBundle, "base64").toString();
  if (ca !== undefined && !ca.includes("-----BEGIN CERTIFICATE-----")) throw new Error(NO_AUTHORITY);
  return {
    host: address?.host ?? name,
    port: address?.port ?? (target.port === "" ? 443 : Number(target.port)),
    path: `${target.pathname}${target.search}`,
    // Explicit, so that the environment cannot disable it.
    rejectUnauthorized: true,
    agent: false,
    ...(isIP(name) === 0 ? { servername: name } : {}),
    ...(ca === undefined ? {} : { ca }),
  };
}

function headersFor(target: URL, body: string): Record<string, string | number> {
  return {
    host: target.host,
    accept: "application/json, */*",
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    "user-agent": "kube-apiserver-admission",
  };
}

function hostOf({ hostname }: URL): string {
  return hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
}

function exchange(options: RequestOptions, body: string, signal: AbortSignal): Promise<WebhookResponse> {
  const maxBytes = Math.max(MAX_BYTES, MAX_GROWTH * Buffer.byteLength(body));
  return new Promise((resolve, reject) => {
    const sent = request({ ...options, method: "POST", signal }, (response) => {
      const pieces: Buffer[] = [];
      let bytes = 0;
      response.on("data", (piece: Buffer) => {
        bytes += piece.byteLength;
        if (bytes > maxBytes) sent.destroy(new Error(`the answer is longer than ${maxBytes} bytes`));
        else pieces.push(piece);
      });
      response.on("error", reject);
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(pieces).toString() }));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

interface SystemError extends Error {
  readonly code?: string;
  readonly cert?: { readonly subjectaltname?: string };
}

/** Returns the error message that Go prints, because users search for it. */
function reasonOf({ code = "", message, cert }: SystemError, { host, port, servername }: Target): string {
  const where = `${isIP(host ?? "") === 6 ? `[${host}]` : host}:${port}`;
  const unverified = "tls: failed to verify certificate: x509:";
  if (UNKNOWN_AUTHORITY.has(code)) return `${unverified} certificate signed by unknown authority`;
  switch (code) {
    case "ECONNREFUSED":
      return `dial tcp ${where}: connect: connection refused`;
    case "EHOSTUNREACH":
      return `dial tcp ${where}: connect: no route to host`;
    case "ENETUNREACH":
      return `dial tcp ${where}: connect: network is unreachable`;
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `dial tcp: lookup ${host}: no such host`;
    case "CERT_HAS_EXPIRED":
    case "CERT_NOT_YET_VALID":
      return `${unverified} certificate has expired or is not yet valid`;
    case "ERR_TLS_CERT_ALTNAME_INVALID": {
      const names = (cert?.subjectaltname ?? "").replaceAll(/(?:DNS|IP Address):/g, "");
      return `${unverified} certificate is valid for ${names}, not ${servername ?? host}`;
    }
    case "ECONNRESET":
      return message === "socket hang up"
        ? "EOF"
        : message === "aborted"
          ? "unexpected EOF"
          : "connection reset by peer";
    case "EPROTO":
      return "http: server gave HTTP response to HTTPS client";
    default:
      return message;
  }
}
