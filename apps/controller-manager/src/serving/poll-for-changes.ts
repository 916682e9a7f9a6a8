import { errorMessage } from "@kubewright/client";
import type { Clock } from "@kubewright/clock";
import type { Logger } from "@kubewright/controller";

export interface ReloadSource {
  /** Name in log lines. */
  readonly name: string;
  /** Reads the content again. Contents are compared with `===`. */
  readonly read: () => Promise<string>;
  /** Content of the previous read. */
  readonly initial: string;
  readonly intervalMs: number;
  /** Applies changed content. If it throws, the previous content stays in use, and the next poll retries. */
  readonly apply: (content: string) => void;
}

/**
 * Polls a source until the signal aborts, and applies its content when it has changed. Logs the first of equal
 * failures, and the recovery.
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
      if (message !== problem) logger.error({ name, err: message }, "Could not reload, keeping the previous content");
      problem = message;
    }
  }
}
