/** Releases of Kubernetes that can be played, as `--kubernetes` takes them, and in words. Empty: the newest. */
export const RELEASES: readonly (readonly [name: string, words: string])[] = [
  ["", "1.36"],
  ["1.36.2", "1.36.0 to 1.36.2"],
  ["1.35", "1.35"],
  ["1.34", "1.34"],
  ["1.33", "1.33"],
  ["1.32", "1.32"],
  ["1.31", "1.31"],
];
