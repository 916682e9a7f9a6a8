import { invalidOptions } from "./api-error.js";
import type { ApiCall } from "./api-call.js";
import { FieldErrors } from "./field-errors.js";
import { isJsonObject } from "./json.js";
import type { DeleteOptions, WriteOptions } from "./registry/options.js";

type OptionsKind = "CreateOptions" | "UpdateOptions" | "PatchOptions";

/**
 * Reads the options of a write from the query.
 *
 * @throws ApiError 422 with the options kind and the parameter.
 */
export function readWriteOptions(call: ApiCall, kind: OptionsKind, isApply = false): WriteOptions {
  if (!isApply && call.query.isEmpty) {
    return { dryRun: false, fieldManager: managerOf(call.userAgent), fieldValidation: "Warn" };
  }
  const { query } = call;
  const errors = new FieldErrors();
  const fieldManager = query.get("fieldManager") ?? "";
  if (kind === "PatchOptions") {
    if (isApply && fieldManager === "") errors.required("fieldManager", "is required for apply patch");
    if (!isApply && query.has("force")) errors.forbidden("force", "may not be specified for non-apply patch");
  }
  validateFieldManager(fieldManager, errors);
  const dryRun = query.getAll("dryRun").filter((value) => value !== "");
  validateDryRun(dryRun, errors);
  const validation = query.get("fieldValidation") ?? "";
  if (!["", "Ignore", "Strict", "Warn"].includes(validation))
    errors.notSupported("fieldValidation", validation, ["", "Ignore", "Strict", "Warn"]);
  if (!errors.isEmpty) throw invalidOptions(kind, errors);
  return {
    dryRun: dryRun.length > 0,
    fieldManager: fieldManager === "" ? managerOf(call.userAgent) : fieldManager,
    fieldValidation: validation === "" ? "Warn" : (validation as WriteOptions["fieldValidation"]),
  };
}

function validateFieldManager(manager: string, errors: FieldErrors): void {
  if (manager.length > 128) errors.tooLong("fieldManager", 128);
  for (let index = 0; index < manager.length; index++) {
    const code = manager.charCodeAt(index);
    if (code >= 0x20 && code !== 0x7f) continue;
    errors.invalid(
      "fieldManager",
      manager,
      `invalid character U+${code.toString(16).toUpperCase().padStart(4, "0")} (at position ${index})`,
    );
    break;
  }
}

export function validateDryRun(values: readonly unknown[], errors: FieldErrors): void {
  if (values.some((value) => value !== "All")) errors.notSupported("dryRun", values, ["All"]);
}

/** Returns the default field manager: the user agent up to the first `/`. */
function managerOf(userAgent: string): string {
  const slash = userAgent.indexOf("/");
  const name = slash < 0 ? userAgent : userAgent.slice(0, slash);
  return name === "" ? "unknown" : name.length > 128 ? name.slice(0, 128) : name;
}

/** @param body - The decoded body, if any: the query is then ignored. */
export function readDeleteOptions(call: ApiCall, body: unknown): DeleteOptions {
  const errors = new FieldErrors();
  const options = isJsonObject(body) ? body : optionsFromQuery(call);
  const dryRun = (options["dryRun"] as string[] | undefined) ?? [];
  validateDryRun(dryRun, errors);
  const policy = options["propagationPolicy"] as string | undefined;
  const orphanDependents = options["orphanDependents"] as boolean | undefined;
  if (policy !== undefined && orphanDependents !== undefined) {
    errors.invalid("propagationPolicy", policy, "orphanDependents and deletionPropagation cannot be both set");
  } else if (policy !== undefined && !["Foreground", "Background", "Orphan"].includes(policy)) {
    errors.notSupported("propagationPolicy", policy, ["Foreground", "Background", "Orphan", "nil"]);
  }
  if (!errors.isEmpty) throw invalidOptions("DeleteOptions", errors);
  return {
    dryRun: dryRun.length > 0,
    gracePeriodSeconds: options["gracePeriodSeconds"] as number | undefined,
    propagationPolicy: policy as DeleteOptions["propagationPolicy"],
    orphanDependents,
    preconditions: options["preconditions"] as DeleteOptions["preconditions"],
  };
}

function optionsFromQuery({ query }: ApiCall): Record<string, unknown> {
  const dryRun = query.getAll("dryRun").filter((value) => value !== "");
  const policy = query.get("propagationPolicy");
  return {
    ...(dryRun.length > 0 ? { dryRun } : {}),
    ...(query.has("gracePeriodSeconds") ? { gracePeriodSeconds: query.integer("gracePeriodSeconds") } : {}),
    ...(policy ? { propagationPolicy: policy } : {}),
    ...(query.has("orphanDependents") ? { orphanDependents: query.flag("orphanDependents") } : {}),
  };
}
