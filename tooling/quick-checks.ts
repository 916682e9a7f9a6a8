/** What `npm run test:quick` checks of the changed files. All paths are relative to the root of the checkout. */
export interface QuickChecks {
  /** Folders and files of the tests to run: vitest runs the files whose path contains one of these. */
  readonly tests: readonly string[];
  /** Changed tests that take too long. */
  readonly longTests: readonly string[];
  readonly code: readonly string[];
  /** Files whose words are checked. */
  readonly texts: readonly string[];
}

/**
 * Returns the checks for changed files. Tests beside the sources of a package take seconds. Those in other folders of a
 * package start browsers, processes or long simulations.
 */
export function quickChecks(changed: readonly string[]): QuickChecks {
  const folders = changed.flatMap((file) => /^(?:packages|apps)\/[^/]+\/src\//.exec(file)?.[0] ?? []);
  const others = changed.filter((file) => file.endsWith(".test.ts") && !/^(?:packages|apps)\/[^/]+\/src\//.test(file));
  const isLong = (file: string): boolean => /^(?:packages|apps)\//.test(file);
  return {
    tests: [...new Set([...folders, ...others.filter((file) => !isLong(file))])],
    longTests: others.filter(isLong),
    code: changed.filter((file) => /\.(?:ts|js|mjs)$/.test(file)),
    texts: changed.filter((file) => /\.(?:ts|js|mjs|md)$/.test(file)),
  };
}
