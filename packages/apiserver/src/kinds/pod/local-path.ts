import type { FieldErrors } from "../../field-errors.js";

/** Validates that a path contains no `..`. Upstream: `validatePathNoBacksteps`. */
export function validateNoBacksteps(path: string, field: string, errors: FieldErrors): void {
  if (hasBackstep(path)) errors.invalid(field, path, "must not contain '..'");
}

export function hasBackstep(path: string): boolean {
  return path.split("/").includes("..");
}

/** Validates a relative path without `..`. Upstream: `validateLocalDescendingPath`. */
export function validateLocalPath(path: string, field: string, errors: FieldErrors): void {
  if (path.startsWith("/")) errors.invalid(field, path, "must be a relative path");
  validateNoBacksteps(path, field, errors);
}

/**
 * Validates the path of a file that the kubelet creates in a volume. Names that begin with two dots are reserved for
 * the kubelet. Upstream: `ValidateLocalNonReservedPath`.
 */
export function validateNonReservedPath(path: string, field: string, errors: FieldErrors): void {
  validateLocalPath(path, field, errors);
  // `../` is already reported as a backstep.
  if (path.startsWith("..") && !path.startsWith("../")) errors.invalid(field, path, "must not start with '..'");
}
