/** Decision of a webhook about a request. */
export class Verdict {
  constructor(
    readonly allowed: boolean,
    readonly status: { readonly code: number; readonly reason: string; readonly message: string } | undefined,
    /** Warnings for the client; kubectl prints them. */
    readonly warnings: readonly string[],
  ) {}
}

export interface DenyOptions {
  /** HTTP status of the response. Default 403. */
  readonly code?: number;
  /** Machine-readable reason. Default `Forbidden`. */
  readonly reason?: string;
  readonly warnings?: readonly string[];
}

/** Allows the request, optionally with warnings of at most 120 characters each. */
export function allow({ warnings = [] }: { readonly warnings?: readonly string[] } = {}): Verdict {
  return new Verdict(true, undefined, warnings);
}

/**
 * Denies the request.
 *
 * @param message - For the client: what is wrong, in which field, and what would be right.
 */
export function deny(message: string, options: DenyOptions = {}): Verdict {
  const { code = 403, reason = "Forbidden", warnings = [] } = options;
  return new Verdict(false, { code, reason, message }, warnings);
}
