import type { FieldErrors } from "../../field-errors.js";
import { validateSupported } from "../../validation/rules.js";

const ACCESS_MODES = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
const VOLUME_MODES = ["Block", "Filesystem"];
/** The abbreviations of the access modes, in the order of the table cell. Upstream: `GetAccessModesAsString`. */
const SHORT_MODES = { ReadWriteOnce: "RWO", ReadOnlyMany: "ROX", ReadWriteMany: "RWX", ReadWriteOncePod: "RWOP" };

/** Validates access modes of claims and volumes. The caller checks for an empty list. */
export function validateAccessModes(modes: readonly string[], field: string, errors: FieldErrors): void {
  for (const mode of modes) validateSupported(mode, ACCESS_MODES, field, errors);
  const isForOnePod = (mode: string): boolean => mode === "ReadWriteOncePod";
  if (modes.some(isForOnePod) && modes.some((mode) => ACCESS_MODES.includes(mode) && !isForOnePod(mode)))
    errors.forbidden(field, "may not use ReadWriteOncePod with other access modes");
}

export function validateVolumeMode(mode: string | undefined, field: string, errors: FieldErrors): void {
  validateSupported(mode, VOLUME_MODES, field, errors);
}

/** Formats the table cell: `RWO,ROX`. */
export function accessModesCell(modes: readonly string[] = []): string {
  return Object.entries(SHORT_MODES)
    .filter(([mode]) => modes.includes(mode))
    .map(([, short]) => short)
    .join(",");
}
