/** What a chunk found: what a pod of an Indexed Job leaves as its termination message. */
export interface ChunkSummary {
  readonly chunkVersion: 1;
  readonly seeds: { readonly from: number; readonly to: number };
  /** Plans or futures. */
  readonly simulated: number;
  readonly findings: readonly ChunkFinding[];
  /** Findings that there was no room for. */
  readonly leftOut?: number;
}

export interface ChunkFinding {
  /** A rule and an object, or an invariant and a kind: equal ones are one finding, in whatever chunk. */
  readonly what: string;
  /** The first seed, or plan such as `7+3`, that shows it. */
  readonly seed: string;
  /** In how many of those played. */
  readonly count: number;
}

/** Bytes that Kubernetes keeps of a termination message. */
const MAX_BYTES = 4096;
const MAX_WHAT_CHARACTERS = 300;

/** On one line, and no longer than a termination message. */
export function summaryText(summary: ChunkSummary): string {
  const findings = summary.findings.map((finding) => ({
    ...finding,
    what: finding.what.slice(0, MAX_WHAT_CHARACTERS),
  }));
  for (let shown = findings.length; ; shown--) {
    const leftOut = findings.length - shown;
    const text = `${JSON.stringify({ ...summary, findings: findings.slice(0, shown), ...(leftOut > 0 && { leftOut }) })}\n`;
    if (shown === 0 || new TextEncoder().encode(text).length <= MAX_BYTES) return text;
  }
}

/** @returns `undefined` for what is none, such as the last words of something that broke. */
export function readSummary(text: string): ChunkSummary | undefined {
  try {
    const summary = JSON.parse(text) as Partial<ChunkSummary> | null;
    return summary?.chunkVersion === 1 && Array.isArray(summary.findings) ? (summary as ChunkSummary) : undefined;
  } catch {
    return undefined;
  }
}
