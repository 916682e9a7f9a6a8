/** Formats a number with a fraction or exponent as a key, as `sigs.k8s.io/yaml` does: Go's `%g` of a float32. */
export function floatKey(value: number): string {
  const single = Math.fround(value);
  if (Number.isNaN(single)) return ".nan";
  if (!Number.isFinite(single)) return single > 0 ? ".inf" : "-.inf";
  const digits = shortest(single);
  const exponent = Number(digits.slice(digits.indexOf("e") + 1));
  if (exponent >= -4 && exponent < 6) return String(Number(digits));
  const sign = exponent < 0 ? "-" : "+";
  return `${digits.slice(0, digits.indexOf("e"))}e${sign}${String(Math.abs(exponent)).padStart(2, "0")}`;
}

/** Returns the shortest exponential form that rounds to this float32. */
function shortest(single: number): string {
  for (let fraction = 0; fraction < 8; fraction++) {
    const text = single.toExponential(fraction);
    if (Math.fround(Number(text)) === single) return text;
  }
  return single.toExponential(8);
}
