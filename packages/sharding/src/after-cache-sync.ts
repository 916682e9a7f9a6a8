import { untilAborted } from "@kubewright/clock";
import type { InformerFactory } from "@kubewright/informer";

import type { BucketWork } from "./owned-bucket.js";

/** Work of a bucket, such as a controller. Runs until its signal aborts. */
export interface BucketRunnable {
  readonly name: string;
  run(signal: AbortSignal): Promise<void>;
}

/**
 * Wraps runnables so that each starts after all caches of its bucket have synced. A controller that sees owners without
 * their dependents would create the dependents again. The bucket is opened then, even without any runnable.
 *
 * @param informers - Of the bucket, from `BucketInformers.forBucket`. The caller runs them, and stops them after the
 * runnables.
 */
export function afterCacheSync(
  runnables: readonly BucketRunnable[],
  informers: Pick<InformerFactory, "waitForCacheSync">,
  work: Pick<BucketWork, "opened">,
): readonly BucketRunnable[] {
  return [...runnables, untilReleased].map((runnable) => ({
    name: runnable.name,
    run: async (signal) => {
      const isFilled = await informers.waitForCacheSync(signal).then(
        () => true,
        () => false,
      );
      if (!isFilled) return;
      work.opened();
      await runnable.run(signal);
    },
  }));
}

/** Keeps a bucket without controllers owned until it is released. */
export const untilReleased: BucketRunnable = { name: "until released", run: untilAborted };
