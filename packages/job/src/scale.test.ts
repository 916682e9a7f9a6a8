import { expect, test } from "vitest";

import { TestCluster } from "../test/test-cluster.js";

/** CPU time of this thread only: other tests and other processes do not count. */
const cpuUs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return user + system;
};

const heavy = process.env["KUBEWRIGHT_HEAVY"] === "1";

test.each([[10_000, 1_000], ...(heavy ? [[100_000, 1_000] as const] : [])] as const)(
  "an indexed Job of %d completions, %d at a time, completes, and its last pods cost no more than its first",
  { timeout: 600_000 },
  async (completions, parallelism) => {
    const cluster = await TestCluster.start({ syncBatchPeriodMs: "adaptive", freeze: false });
    await cluster.runKubelet(() => ({ endsAfterMs: 10_000 }));
    const marks: { readonly succeeded: number; readonly cpuUs: number }[] = [];
    const mark = async (): Promise<void> => {
      marks.push({ succeeded: (await cluster.status()).succeeded ?? 0, cpuUs: cpuUs() });
    };
    await cluster.createJob({ completionMode: "Indexed", completions, parallelism, manualSelector: false });
    await mark();
    while ((await cluster.status()).completionTime === undefined) {
      await cluster.advance(10);
      await mark();
    }
    expect(await cluster.status()).toMatchObject({ succeeded: completions, completedIndexes: `0-${completions - 1}` });

    const microsecondsPerPod = (from: number, to: number): number => {
      const [first, last] = [from, to].map((share) => marks.find(({ succeeded }) => succeeded >= share * completions)!);
      return (last!.cpuUs - first!.cpuUs) / (last!.succeeded - first!.succeeded);
    };
    const fifths = [0, 0.2, 0.4, 0.6, 0.8].map((share) => microsecondsPerPod(share, share + 0.2));
    console.log(`${completions} pods, µs per pod by fifths: ${fifths.map(Math.round).join(" ")}`);
    // The bound is wide, because garbage collection runs at any time. A quadratic cost would be nine times as high at
    // the end.
    expect(fifths[4]!).toBeLessThan(3 * fifths[1]!);
    await cluster.close();
  },
);
