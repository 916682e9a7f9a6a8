import type { FieldErrors } from "../field-errors.js";

/** Upstream: `FieldImmutableErrorMsg`. */
export const FIELD_IS_IMMUTABLE = "field is immutable";

/** Adds each message as an `Invalid value` error of the field. */
export function addInvalid(errors: FieldErrors, field: string, value: unknown, sentences: readonly string[]): void {
  for (const sentence of sentences) errors.invalid(field, value, sentence);
}

/** Reports a negative number. An absent number is valid. Upstream: `ValidateNonnegativeField`. */
export function validateNonNegative(value: number | null | undefined, field: string, errors: FieldErrors): void {
  if (typeof value === "number" && value < 0) errors.invalid(field, value, "must be greater than or equal to 0");
}

/**
 * Reports a value that is not supported.
 *
 * @param supported - The supported values, in the order of the error message.
 */
export function validateSupported(
  value: string,
  supported: readonly string[],
  field: string,
  errors: FieldErrors,
): void {
  if (!supported.includes(value)) errors.notSupported(field, value, supported);
}

/** Reports an absent or empty value as required, and an unknown value as not supported. */
export function validateChoice(
  value: string | undefined,
  supported: readonly string[],
  field: string,
  errors: FieldErrors,
): void {
  if (!value) errors.required(field);
  else validateSupported(value, supported, field, errors);
}
