import type { FieldErrors } from "../field-errors.js";

/** Upstream: `FieldImmutableErrorMsg`. */
export const FIELD_IS_IMMUTABLE = "field is immutable";

/** Adds each sentence as an `Invalid value` of the field. */
export function addInvalid(errors: FieldErrors, field: string, value: unknown, sentences: readonly string[]): void {
  for (const sentence of sentences) errors.invalid(field, value, sentence);
}

/** An absent number is fine. Upstream: `ValidateNonnegativeField`. */
export function validateNonNegative(value: number | null | undefined, field: string, errors: FieldErrors): void {
  if (typeof value === "number" && value < 0) errors.invalid(field, value, "must be greater than or equal to 0");
}

/** @param supported - As the error lists them. */
export function validateSupported(
  value: string,
  supported: readonly string[],
  field: string,
  errors: FieldErrors,
): void {
  if (!supported.includes(value)) errors.notSupported(field, value, supported);
}

/** An absent or empty value is another error than one nobody knows. */
export function validateChoice(
  value: string | undefined,
  supported: readonly string[],
  field: string,
  errors: FieldErrors,
): void {
  if (!value) errors.required(field);
  else validateSupported(value, supported, field, errors);
}
