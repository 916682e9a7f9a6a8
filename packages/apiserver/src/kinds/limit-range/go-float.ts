/** Formats a number as Go's `%f`. */
export function goFloat(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  return Number.isFinite(value) ? value.toFixed(6) : value > 0 ? "+Inf" : "-Inf";
}
