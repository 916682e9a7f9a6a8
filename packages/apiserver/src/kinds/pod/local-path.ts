import type { FieldErrors } from "../../field-errors.js";

/** A path that does not climb. Upstream: `validatePathNoBacksteps`. */
export function validateNoBacksteps(path: string, field: string, errors: FieldErrors): void {
  if (hasBackstep(path)) errors.invalid(field, path, "must not contain '..'");
}

export function hasBackstep(path: string): boolean {
  return path.split("/").includes("..");
}

/** A path below the volume's root. Upstream: `validateLocalDescendingPath`. */
export function validateLocalPath(path: string, field: string, errors: FieldErrors): void {
  if (path.startsWith("/")) errors.invalid(field, path, "must be a relative path");
  validateNoBacksteps(path, field, errors);
}

/** A file that the kubelet makes in a volume: names that begin with two dots are its own. Upstream: `ValidateLocalNonReservedPath`. */
export function validateNonReservedPath(path: string, field: string, errors: FieldErrors): void {
  validateLocalPath(path, field, errors);
  // One that climbs has been refused for that.
  if (path.startsWith("..") && !path.startsWith("../")) errors.invalid(field, path, "must not start with '..'");
}
