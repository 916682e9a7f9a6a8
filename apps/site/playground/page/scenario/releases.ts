/**
 * Kubernetes releases that can be simulated, as values of `--kubernetes` and as labels. An empty value is the newest
 * release.
 */
export const RELEASES: readonly (readonly [name: string, words: string])[] = [
  ["", "1.36"],
  ["1.36.2", "1.36.0 to 1.36.2"],
  ["1.35", "1.35"],
  ["1.34", "1.34"],
  ["1.33", "1.33"],
  ["1.32", "1.32"],
  ["1.31", "1.31"],
];
