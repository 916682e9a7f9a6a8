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
 * Reports a value that is not supported. An absent value is valid.
 *
 * @param supported - The supported values, in the order of the error message.
 */
export function validateSupported(
  value: string | undefined,
  supported: readonly string[],
  field: string,
  errors: FieldErrors,
): void {
  if (value !== undefined && !supported.includes(value)) errors.notSupported(field, value, supported);
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

/**
 * Reports an absent value, `""` or 0 as required, and otherwise each violation of its format.
 *
 * @param detail - The message for an absent value. Default none.
 */
export function validateRequired<T extends string | number>(
  value: T | undefined,
  formatErrors: (value: T) => readonly string[],
  field: string,
  errors: FieldErrors,
  detail?: string,
): void {
  if (!value) errors.required(field, detail);
  else addInvalid(errors, field, value, formatErrors(value));
}

/** Reports a value that `seen` contains, and adds it. */
export function validateUnique<T>(value: T, seen: Set<T>, field: string, errors: FieldErrors): void {
  if (seen.has(value)) errors.duplicate(field, value);
  seen.add(value);
}
