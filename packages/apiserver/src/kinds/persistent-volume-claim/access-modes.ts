import type { FieldErrors } from "../../field-errors.js";

const ACCESS_MODES = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
const VOLUME_MODES = ["Block", "Filesystem"];
/** In the order of the cell, with what stands there. Upstream: `GetAccessModesAsString`. */
const SHORT_MODES = { ReadWriteOnce: "RWO", ReadOnlyMany: "ROX", ReadWriteMany: "RWX", ReadWriteOncePod: "RWOP" };

/** How claims and volumes may be mounted; an empty list is the caller's. */
export function validateAccessModes(modes: readonly string[], field: string, errors: FieldErrors): void {
  for (const mode of modes) if (!ACCESS_MODES.includes(mode)) errors.notSupported(field, mode, ACCESS_MODES);
  const isForOnePod = (mode: string): boolean => mode === "ReadWriteOncePod";
  if (modes.some(isForOnePod) && modes.some((mode) => ACCESS_MODES.includes(mode) && !isForOnePod(mode)))
    errors.forbidden(field, "may not use ReadWriteOncePod with other access modes");
}

export function validateVolumeMode(mode: string | undefined, field: string, errors: FieldErrors): void {
  if (mode !== undefined && !VOLUME_MODES.includes(mode)) errors.notSupported(field, mode, VOLUME_MODES);
}

/** `RWO,ROX` */
export function accessModesCell(modes: readonly string[] = []): string {
  return Object.entries(SHORT_MODES)
    .filter(([mode]) => modes.includes(mode))
    .map(([, short]) => short)
    .join(",");
}
