/** Kinds of measured levels. */
export type LevelKind = "count" | "cpu" | "memory";

/** Formats a number, thousandths of a core, or bytes: `1,200`, `12.5 CPU`, `1.5Gi`. */
export function levelText(kind: LevelKind, level: number): string {
  const digits = (value: number): string => value.toLocaleString("en", { maximumFractionDigits: 1 });
  if (kind === "count") return digits(level);
  if (kind === "cpu") return `${(level / 1_000).toLocaleString("en", { maximumFractionDigits: 2 })} CPU`;
  return level >= 2 ** 30 ? `${digits(level / 2 ** 30)}Gi` : `${digits(level / 2 ** 20)}Mi`;
}
