/**
 * Returns a function that matches paths against exact paths and, with a trailing `*`, prefixes. A leading `/` is
 * optional.
 *
 * @throws Error for a `*` elsewhere.
 * @see kubernetes v1.36 staging/src/k8s.io/apiserver/pkg/authorization/path/path.go
 */
export function pathMatcher(patterns: readonly string[]): (path: string) => boolean {
  const exact = new Set<string>();
  const prefixes: string[] = [];
  for (const pattern of patterns) {
    const problem = pathPatternError(pattern);
    if (problem !== undefined) throw new Error(problem);
    const relative = pattern.replace(/^\//, "");
    if (relative.endsWith("*")) prefixes.push(relative.slice(0, -1));
    else exact.add(relative);
  }
  return (path) => {
    const relative = path.replace(/^\//, "");
    return exact.has(relative) || prefixes.some((prefix) => relative.startsWith(prefix));
  };
}

/** Upstream's error message for an invalid pattern; `undefined`: the pattern is valid. */
export function pathPatternError(pattern: string): string | undefined {
  const star = pattern.indexOf("*");
  return star >= 0 && star < pattern.length - 1 ? `only trailing * allowed in ${JSON.stringify(pattern)}` : undefined;
}
