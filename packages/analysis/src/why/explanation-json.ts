/**
 * Returns an explanation as a JSON document for scripts. Epoch milliseconds in members that end in `Ms` become RFC 3339
 * times in UTC, in members without that ending.
 */
export function explanationJson(answer: object): string {
  return `${JSON.stringify(wire(answer), undefined, 2)}\n`;
}

function wire(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(wire);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]): [string, unknown] => {
      if (!key.endsWith("Ms")) return [key, wire(member)];
      return [
        key.slice(0, -2),
        Array.isArray(member) ? member.map(instant) : isNumber(member) ? instant(member) : wire(member),
      ];
    }),
  );
}

function isNumber(value: unknown): value is number {
  return typeof value === "number";
}

/** Formats an instant, with the fraction only if it is not 0. */
function instant(timeMs: number): string {
  return new Date(timeMs).toISOString().replace(".000Z", "Z");
}
