import { LeaderElector, type LeaderElectorOptions } from "@kubewright/controller";

/** This process has stopped leading although nothing asked it to. */
export class LeadershipLostError extends Error {
  override readonly name = "LeadershipLostError";
}

export interface LeaderOptions extends Omit<LeaderElectorOptions, "callbacks" | "releaseOnCancel" | "stopTimeoutMs"> {
  /** Called when the leader changes: to another candidate, to this one, or to none (`""`). Default: no call. */
  readonly onNewLeader?: ((leader: string, own: string) => void) | undefined;
  /** Called as soon as the Lease is lost. Default: no call. */
  readonly onLost?: (() => void) | undefined;
  /** Called with the elector before it runs. Default: no call. */
  readonly onElector?: ((elector: LeaderElector) => void) | undefined;
  /**
   * Whether the Lease expires, and is not released, after `lead` has failed: what it began may still be in flight.
   * Default false.
   */
  readonly holdsAfterFailure?: boolean | undefined;
}

/**
 * Waits for the Lease, and runs `lead` while this process holds it. The Lease is released after `lead` has ended. Work
 * that does not end has no limit here.
 *
 * @param lead - Its signal aborts when the Lease is lost, or with `signal`.
 * @throws LeadershipLostError as soon as the Lease is lost, even if `lead` has not ended; otherwise what `lead` throws.
 */
export async function runAsLeader(
  { onNewLeader, onElector, onLost, identity, holdsAfterFailure = false, ...options }: LeaderOptions,
  lead: (leading: AbortSignal, elector: LeaderElector) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => {});
  let hasFailed = false;
  const elector: LeaderElector = new LeaderElector({
    ...options,
    identity,
    releaseOnCancel: true,
    stopTimeoutMs: Infinity,
    callbacks: {
      onStartedLeading: async (leading) => {
        try {
          await lead(leading, elector);
        } catch (error) {
          hasFailed = true;
          failed.reject(error);
          if (holdsAfterFailure) await new Promise<never>(() => {});
        }
      },
      onStoppedLeading: () => {
        if (signal.aborted || hasFailed) return;
        onLost?.();
        failed.reject(new LeadershipLostError("leaderelection lost/stopped"));
      },
      onNewLeader: (leader) => onNewLeader?.(leader, identity),
    },
  });
  onElector?.(elector);
  await Promise.race([elector.run(signal), failed.promise]);
}
