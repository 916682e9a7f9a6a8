import { errorMessage } from "@kubewright/client";
import type { Clock } from "@kubewright/clock";
import type { Logger } from "@kubewright/controller";

export interface ReloadSource {
  /** What is followed, for the log. */
  readonly name: string;
  /** Reads it anew. What it answers is compared with `===`. */
  readonly read: () => Promise<string>;
  /** As it was read before. */
  readonly initial: string;
  readonly intervalMs: number;
  /** Makes use of what has changed. May throw: then what was before stays in use, and it is tried again. */
  readonly apply: (content: string) => void;
}

/**
 * Reads something again and again, and makes use of it when it has changed, until the signal aborts. What cannot be read
 * or used is logged once, and so is that it can be again.
 */
export async function pollForChanges(
  { name, read, initial, intervalMs, apply }: ReloadSource,
  { clock, logger }: { clock: Clock; logger: Logger },
  signal: AbortSignal,
): Promise<void> {
  let current = initial;
  let problem: string | undefined;
  for (;;) {
    try {
      await clock.sleep(intervalMs, signal, { background: true });
    } catch {
      return;
    }
    try {
      const content = await read();
      if (content !== current) {
        apply(content);
        current = content;
        logger.info({ name }, "Reloaded");
      } else if (problem !== undefined) logger.info({ name }, "Can be read again");
      problem = undefined;
    } catch (error) {
      if (signal.aborted) return;
      const message = errorMessage(error);
      if (message !== problem)
        logger.error({ name, err: message }, "Could not reload, keeping the previous content");
      problem = message;
    }
  }
}
