import { dnsSubdomainErrors, portNumberErrors } from "@kubewright/api/validation";

import type { FieldErrors } from "../field-errors.js";
import { addInvalid } from "./rules.js";

/** The address of a webhook. */
export interface WebhookClientConfig {
  url?: string;
  service?: { name: string; namespace: string; path?: string; port?: number };
  /** PEM certificates in base64. */
  caBundle?: string;
}

const URL_FORM = "; desired format: https://host[/path]";

/** Validates the address. Upstream: apiserver `pkg/util/webhook`. */
export function validateClientConfig({ url, service }: WebhookClientConfig, path: string, errors: FieldErrors): void {
  if (url !== undefined && service === undefined) validateUrl(url, `${path}.url`, errors);
  else if (url === undefined && service !== undefined) validateService(service, `${path}.service`, errors);
  else errors.required(path, "exactly one of url or service is required");
}

/** Validates a URL, split into parts as Go does. Upstream: apiserver `pkg/util/webhook` ValidateWebhookURL. */
function validateUrl(url: string, path: string, errors: FieldErrors): void {
  const parts = /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s.exec(url);
  const [, scheme = "", authority = "", , query = "", fragment = ""] = parts ?? [];
  const problem = urlProblem(url, scheme);
  if (problem !== undefined) {
    errors.required(path, `url must be a valid URL: parse ${JSON.stringify(url)}: ${problem}${URL_FORM}`);
    return;
  }
  const at = authority.lastIndexOf("@");
  if (scheme.toLowerCase() !== "https")
    errors.invalid(path, scheme.toLowerCase(), `'https' is the only allowed URL scheme${URL_FORM}`);
  const host = authority.slice(at + 1);
  if (host === "") errors.invalid(path, host, `host must be specified${URL_FORM}`);
  if (at >= 0) errors.invalid(path, authority.slice(0, at), "user information is not permitted in the URL");
  if (fragment !== "") errors.invalid(path, decodeURIComponent(fragment), "fragments are not permitted in the URL");
  if (query !== "") errors.invalid(path, query, "query parameters are not permitted in the URL");
}

/** Returns the error of Go's `url.Parse`; `undefined` when the URL is valid. */
function urlProblem(url: string, scheme: string): string | undefined {
  // oxlint-disable-next-line no-control-regex -- those are what it refuses
  if (/[\u0000-\u001f\u007f]/.test(url)) return "net/url: invalid control character in URL";
  if (url.startsWith(":")) return "missing protocol scheme";
  const escape = /%(?![0-9a-fA-F]{2}).{0,2}/.exec(url)?.[0];
  if (escape !== undefined) return `invalid URL escape ${JSON.stringify(escape)}`;
  if (scheme === "" && /^[^/?#]*:/.test(url)) return "first path segment in URL cannot contain colon";
  const port = /^[^:]+:\/\/(?:[^/?#]*@)?(?:\[[^\]]*\]|[^/?#:@]*)(:[^/?#@]*)(?=[/?#]|$)/.exec(url)?.[1];
  if (port !== undefined && !/^:\d*$/.test(port)) return `invalid port ${JSON.stringify(port)} after host`;
  return undefined;
}

/** Upstream: `ValidateWebhookService`. */
function validateService(
  { name, namespace, port, path: urlPath }: NonNullable<WebhookClientConfig["service"]>,
  path: string,
  errors: FieldErrors,
): void {
  if (!name) errors.required(`${path}.name`);
  if (!namespace) errors.required(`${path}.namespace`);
  if (port !== undefined)
    addInvalid(
      errors,
      `${path}.port`,
      port,
      portNumberErrors(port).map((sentence) => `port is not valid: ${sentence}`),
    );
  if (urlPath === undefined || urlPath === "" || urlPath === "/") return;
  const problem = (detail: string): void => errors.invalid(`${path}.path`, urlPath, detail);
  if (urlPath === "//") return problem("segment[0] may not be empty");
  if (!urlPath.startsWith("/")) problem("must start with a '/'");
  const segments = urlPath.slice(1).replace(/\/$/, "").split("/");
  for (const [index, segment] of segments.entries()) {
    if (segment === "") problem(`segment[${index}] may not be empty`);
    else for (const sentence of dnsSubdomainErrors(segment)) problem(`segment[${index}]: ${sentence}`);
  }
}
