/** Response to a health request. Serve it as `text/plain; charset=utf-8` with `X-Content-Type-Options: nosniff`. */
export interface HealthReport {
  readonly status: 200 | 500;
  readonly body: string;
}

/** Result of one check. */
export interface HealthResult {
  readonly name: string;
  readonly outcome: "ok" | "failed" | "excluded";
}

/**
 * Renders the text of Kubernetes' health endpoints: `ok`, or one line per check when verbose or when a check failed.
 * The text omits the reason of a failure.
 *
 * @see kubernetes v1.36 apiserver pkg/server/healthz/healthz.go handleRootHealth
 */
export function renderHealth(
  endpoint: string,
  results: readonly HealthResult[],
  { verbose = false, notExcluded = [] }: { verbose?: boolean; notExcluded?: readonly string[] } = {},
): HealthReport {
  const failed = results.some(({ outcome }) => outcome === "failed");
  if (!failed && !verbose) return { status: 200, body: "ok" };
  const lines = results.map(({ name, outcome }) => LINES[outcome](name));
  if (notExcluded.length > 0) {
    const names = notExcluded.map((name) => JSON.stringify(name)).join(",");
    lines.push(`warn: some health checks cannot be excluded: no matches for ${names}`);
  }
  lines.push(`${endpoint} check ${failed ? "failed" : "passed"}`);
  return { status: failed ? 500 : 200, body: `${lines.join("\n")}\n` };
}

const LINES = {
  ok: (name: string) => `[+]${name} ok`,
  failed: (name: string) => `[-]${name} failed: reason withheld`,
  excluded: (name: string) => `[+]${name} excluded: ok`,
} as const;
