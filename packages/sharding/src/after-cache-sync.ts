import type { InformerFactory } from "@kubewright/informer";

import type { BucketWork } from "./owned-bucket.js";

/** What runs for a bucket until its signal aborts, such as a controller. */
export interface BucketRunnable {
  readonly name: string;
  run(signal: AbortSignal): Promise<void>;
}

/**
 * The parts, each of which starts once all caches of its bucket are filled: whoever saw owners and not what they own would make it
 * again. The bucket is opened then, also without any part.
 *
 * @param informers - Of the bucket, from `BucketInformers.forBucket`. They are run beside the parts, and end after them.
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

/** A bucket without anything to do is a bucket all the same. */
export const untilReleased: BucketRunnable = {
  name: "until released",
  run: (signal) =>
    new Promise((resolve) =>
      signal.aborted ? resolve() : signal.addEventListener("abort", () => resolve(), { once: true }),
    ),
};
