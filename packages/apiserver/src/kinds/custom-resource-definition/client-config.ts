import { portNumberErrors } from "@kubewright/api/validation";

import type { FieldErrors } from "../../field-errors.js";

/** The address of a webhook. */
export interface WebhookClientConfig {
  readonly url?: string;
  readonly service?: {
    readonly name?: string;
    readonly namespace?: string;
    readonly path?: string;
    readonly port?: number;
  };
}

/**
 * Upstream: `webhook.ValidateWebhookURL`, `ValidateWebhookService`, as the validation of CustomResourceDefinitions
 * calls them.
 */
export function validateClientConfig({ url, service }: WebhookClientConfig, path: string, errors: FieldErrors): void {
  if ((url === undefined) === (service === undefined)) {
    errors.required(path, "exactly one of url or service is required");
    return;
  }
  if (url !== undefined) validateUrl(url, `${path}.url`, errors);
  if (service === undefined) return;
  const at = `${path}.service`;
  // Upstream passes name and namespace in the wrong order.
  if (!service.namespace) errors.required(`${at}.name`);
  if (!service.name) errors.required(`${at}.namespace`);
  const { port } = service;
  if (port !== undefined)
    for (const sentence of portNumberErrors(port)) errors.invalid(`${at}.port`, port, `port is not valid: ${sentence}`);
  if (service.path !== undefined) validatePath(service.path, `${at}.path`, errors);
}

const FORM = "desired format: https://host[/path]";

function validateUrl(url: string, field: string, errors: FieldErrors): void {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    errors.required(field, `url must be a valid URL: ${url}; ${FORM}`);
    return;
  }
  const scheme = parsed.protocol.slice(0, -1);
  if (scheme !== "https") errors.invalid(field, scheme, `'https' is the only allowed URL scheme; ${FORM}`);
  if (parsed.host === "") errors.invalid(field, "", `host must be specified; ${FORM}`);
  const user = parsed.password === "" ? parsed.username : `${parsed.username}:${parsed.password}`;
  if (user !== "") errors.invalid(field, user, "user information is not permitted in the URL");
  if (parsed.hash !== "") errors.invalid(field, parsed.hash.slice(1), "fragments are not permitted in the URL");
  if (parsed.search !== "")
    errors.invalid(field, parsed.search.slice(1), "query parameters are not permitted in the URL");
}

function validatePath(path: string, field: string, errors: FieldErrors): void {
  if (path === "/" || path === "") return;
  if (path === "//") {
    errors.invalid(field, path, "segment[0] may not be empty");
    return;
  }
  if (!path.startsWith("/")) errors.invalid(field, path, "must start with a '/'");
  const parts = (path.startsWith("/") ? path.slice(1) : path).split("/");
  if (parts.at(-1) === "") parts.pop();
  for (const [index, part] of parts.entries())
    if (part === "") errors.invalid(field, path, `segment[${index}] may not be empty`);
}
