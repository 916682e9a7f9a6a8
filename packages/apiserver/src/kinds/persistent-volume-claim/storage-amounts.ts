import { parseQuantity } from "@kubewright/api";

import type { FieldErrors } from "../../field-errors.js";

type Quantities = Readonly<Record<string, string>>;

/** Returns the storage amount in billionths of a byte; 0 when absent. */
export function storageOf(quantities: Quantities | undefined): bigint {
  return parseQuantity(quantities?.["storage"] ?? "0")?.nanos ?? 0n;
}

/** Upstream: `validateBasicResource`. */
export function validateAmounts(quantities: Quantities | undefined, path: string, errors: FieldErrors): void {
  for (const [name, text] of Object.entries(quantities ?? {})) {
    const nanos = parseQuantity(text)?.nanos ?? 0n;
    if (nanos < 0n)
      errors.invalid(`${path}[${name}]`, Number(nanos / 1_000_000_000n), "must be a valid resource quantity");
  }
}
