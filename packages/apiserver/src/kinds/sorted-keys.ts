/** A map as an error prints it: keys in order. */
export function sortedKeys<T>(map: Readonly<Record<string, T>> | undefined): Record<string, T> | undefined {
  if (map === undefined) return undefined;
  return Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
}
