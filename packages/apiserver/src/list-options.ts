import type { ApiCall } from "./api-call.js";
import { badRequest, invalidOptions } from "./api-error.js";
import { FieldErrors } from "./field-errors.js";

/** Options of a list or watch request. */
export interface ListOptions {
  /** `""` when absent. */
  readonly resourceVersion: string;
  readonly resourceVersionMatch: "" | "Exact" | "NotOlderThan";
  readonly limit: number;
  readonly continueToken: string;
  readonly timeoutSeconds: number;
  readonly allowWatchBookmarks: boolean;
  readonly sendInitialEvents: boolean | undefined;
}

/**
 * Reads the options of a list or watch. Upstream: `ValidateListOptions`.
 *
 * @throws ApiError 400 for unreadable values, 422 for invalid combinations.
 */
export function readListOptions({ query, verb, server }: ApiCall): ListOptions {
  const options: ListOptions = {
    resourceVersion: query.get("resourceVersion") ?? "",
    resourceVersionMatch: (query.get("resourceVersionMatch") ?? "") as ListOptions["resourceVersionMatch"],
    limit: Math.max(0, query.integer("limit") ?? 0),
    continueToken: query.get("continue") ?? "",
    timeoutSeconds: query.integer("timeoutSeconds") ?? 0,
    allowWatchBookmarks: query.flag("allowWatchBookmarks"),
    sendInitialEvents: query.has("sendInitialEvents") ? query.flag("sendInitialEvents") : undefined,
  };
  const errors = new FieldErrors();
  if (verb === "watch") validateWatch(options, server.behaviours.watchList, errors);
  else validateList(options, errors);
  if (!errors.isEmpty) throw invalidOptions("ListOptions", errors);
  return options;
}

function validateList(
  { resourceVersion, resourceVersionMatch: match, continueToken, sendInitialEvents }: ListOptions,
  errors: FieldErrors,
): void {
  const field = "resourceVersionMatch";
  if (sendInitialEvents !== undefined) errors.forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list");
  if ((match as string) === "") return;
  if (resourceVersion === "")
    errors.forbidden(field, "resourceVersionMatch is forbidden unless resourceVersion is provided");
  if (continueToken !== "") errors.forbidden(field, "resourceVersionMatch is forbidden when continue is provided");
  if (match !== "Exact" && match !== "NotOlderThan") errors.notSupported(field, match, ["Exact", "NotOlderThan", ""]);
  if (match === "Exact" && resourceVersion === "0")
    errors.forbidden(field, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
}

function validateWatch(
  { resourceVersionMatch: match, continueToken, sendInitialEvents }: ListOptions,
  watchList: boolean,
  errors: FieldErrors,
): void {
  const field = "resourceVersionMatch";
  if (sendInitialEvents !== undefined && !watchList)
    errors.forbidden(
      "sendInitialEvents",
      "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled",
    );
  if ((match as string) !== "") {
    if (sendInitialEvents === undefined)
      errors.forbidden(field, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
    else if (match !== "NotOlderThan")
      errors.forbidden(field, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
    if (match !== "NotOlderThan") errors.notSupported(field, match, ["NotOlderThan"]);
  } else if (sendInitialEvents !== undefined) {
    errors.forbidden(field, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
  }
  // Upstream reports the field `resourceVersionMatch`, even when it is absent.
  if (continueToken !== "") errors.forbidden(field, "resourceVersionMatch is forbidden when continue is provided");
}

/** Parses a resourceVersion. Returns upstream's message for invalid text; the caller adds its endpoint's prefix. */
export function parseResourceVersion(text: string): number | { readonly error: string } {
  if (text === "") return 0;
  if (/^\d+$/.test(text)) return Number(text);
  return {
    error: `resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`,
  };
}

const TOKEN_VERSION = "meta.k8s.io/v1";

/** Start of the next page: after the key, in the state of the version; -1 means the latest version. */
export interface ContinueToken {
  readonly resourceVersion: number;
  readonly startKey: string;
}

export function encodeContinue(resourceVersion: number, lastKey: string): string {
  const json = JSON.stringify({ v: TOKEN_VERSION, rv: resourceVersion, start: `${lastKey}\u0000` });
  return btoa(json).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** @throws ApiError 400 */
export function decodeContinue(token: string): ContinueToken {
  const bad = (detail: string): Error => badRequest(`invalid continue token: continue key is not valid: ${detail}`);
  let data: { v?: unknown; rv?: unknown; start?: unknown };
  try {
    data = JSON.parse(atob(token.replaceAll("-", "+").replaceAll("_", "/"))) as typeof data;
  } catch {
    throw bad("illegal base64 data at input byte 0");
  }
  if (data.v !== TOKEN_VERSION) throw bad(`server does not recognize this encoded version ${String(data.v)}`);
  if (typeof data.rv !== "number" || data.rv === 0)
    throw bad(`incorrect encoded start resourceVersion (version ${TOKEN_VERSION})`);
  if (typeof data.start !== "string" || data.start === "")
    throw bad(`encoded start key empty (version ${TOKEN_VERSION})`);
  const startKey = data.start.endsWith("\u0000") ? data.start.slice(0, -1) : data.start;
  if (startKey.startsWith("/") || startKey.includes("//") || startKey.split("/").includes(".."))
    throw bad("invalid start key");
  return { resourceVersion: data.rv, startKey };
}
