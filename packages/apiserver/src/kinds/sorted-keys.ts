/** Returns a copy with sorted keys, as error messages print maps. */
export function sortedKeys<T>(map: Readonly<Record<string, T>> | undefined): Record<string, T> | undefined {
  if (map === undefined) return undefined;
  return Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
}
