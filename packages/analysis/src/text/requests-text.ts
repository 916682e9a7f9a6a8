/** Formats thousandths of a core as cores: `12.5`. */
export function coresText(millis: number): string {
  return (millis / 1000).toLocaleString("en-US", { maximumFractionDigits: 1 });
}

/** Formats bytes as `1.5Gi` or `128Mi`. */
export function memoryText(bytes: number): string {
  const [size, unit] = bytes >= 2 ** 30 ? [2 ** 30, "Gi"] : [2 ** 20, "Mi"];
  return `${(bytes / size).toLocaleString("en-US", { maximumFractionDigits: 1 })}${unit}`;
}
