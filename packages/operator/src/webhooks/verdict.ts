/** What a webhook says to a request. */
export class Verdict {
  constructor(
    readonly allowed: boolean,
    readonly status: { readonly code: number; readonly reason: string; readonly message: string } | undefined,
    /** Shown to who asked, by kubectl too. */
    readonly warnings: readonly string[],
  ) {}
}

export interface DenyOptions {
  /** HTTP status of the answer. Default 403. */
  readonly code?: number;
  /** For programs. Default `Forbidden`. */
  readonly reason?: string;
  readonly warnings?: readonly string[];
}

/** Lets the request pass, perhaps with warnings of at most 120 characters each. */
export function allow({ warnings = [] }: { readonly warnings?: readonly string[] } = {}): Verdict {
  return new Verdict(true, undefined, warnings);
}

/** Refuses the request. @param message - For who asked: what is wrong, with the field, and what would be right. */
export function deny(message: string, options: DenyOptions = {}): Verdict {
  const { code = 403, reason = "Forbidden", warnings = [] } = options;
  return new Verdict(false, { code, reason, message }, warnings);
}
