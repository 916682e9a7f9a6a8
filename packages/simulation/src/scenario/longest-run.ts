/** Ten years. */
export const LONGEST_RUN_MS = 3653 * 86_400_000;

export const TOO_LONG = "is longer than ten years; write 3650d at most";
