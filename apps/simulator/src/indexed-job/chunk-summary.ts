/** The findings of a chunk, which a pod of an Indexed Job writes as its termination message. */
export interface ChunkSummary {
  readonly chunkVersion: 1;
  readonly seeds: { readonly from: number; readonly to: number };
  /** Number of plans or futures. */
  readonly simulated: number;
  readonly findings: readonly ChunkFinding[];
  /** Number of findings that did not fit. */
  readonly leftOut?: number;
}

export interface ChunkFinding {
  /** A rule and an object, or an invariant and a kind. Equal texts count as one finding over all chunks. */
  readonly what: string;
  /** The first seed, or plan such as `7+3`, that reproduces it. */
  readonly seed: string;
  /** Number of simulated plans or futures with the finding. */
  readonly count: number;
}

/** Maximum size of a termination message in Kubernetes. */
const MAX_BYTES = 4096;
const MAX_WHAT_CHARACTERS = 300;

/** Formats the summary on one line that fits into a termination message. */
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

/** @returns `undefined` for other text, such as the last log lines of a failed process. */
export function readSummary(text: string): ChunkSummary | undefined {
  try {
    const summary = JSON.parse(text) as Partial<ChunkSummary> | null;
    return summary?.chunkVersion === 1 && Array.isArray(summary.findings) ? (summary as ChunkSummary) : undefined;
  } catch {
    return undefined;
  }
}
