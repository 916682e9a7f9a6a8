import type { FieldErrors } from "../field-errors.js";
import { addInvalid, validateNonNegative } from "./rules.js";

const PERCENT = /^[0-9]+%$/;
const PERCENT_MESSAGE =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

type IntOrPercent = number | string | undefined;

/** Upstream: `ValidatePositiveIntOrPercent`. */
export function validateIntOrPercent(value: IntOrPercent, field: string, errors: FieldErrors): void {
  if (typeof value === "string") {
    if (!PERCENT.test(value)) errors.invalid(field, value, PERCENT_MESSAGE);
  } else validateNonNegative(value, field, errors);
}

/** Upstream: `IsNotMoreThan100Percent`. */
export function validateAtMost100Percent(value: IntOrPercent, field: string, errors: FieldErrors): void {
  if (typeof value === "string" && PERCENT.test(value) && intOrPercentValue(value) > 100)
    addInvalid(errors, field, value, ["must not be greater than 100%"]);
}

/** Returns the number of `5` or `5%`; 0 for other text. Upstream: `getIntOrPercentValue`. */
export function intOrPercentValue(value: IntOrPercent): number {
  if (typeof value !== "string") return value ?? 0;
  return PERCENT.test(value) ? Number.parseInt(value, 10) : /^[+-]?\d+$/.test(value) ? Number(value) : 0;
}
