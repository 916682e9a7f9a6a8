/**
 * Throughput of the queues, in millions of items per second: `npm run build && node bench/queue.ts`.
 *
 * Every figure is the median of several runs, over distinct string keys made beforehand.
 */
import { realClock } from "@kubewright/clock";
import { DelayingQueue, WorkQueue } from "@kubewright/workqueue";

const KEYS = Array.from({ length: 1_000_000 }, (_, index) => `default/job-${index}`);
// Flattened and hashed once, as keys read from a cache are.
new Set(KEYS);

async function interleaved(): Promise<void> {
  const queue = new WorkQueue<string>({ clock: realClock });
  for (const key of KEYS) {
    queue.add(key);
    queue.done((await queue.get())!);
  }
}

async function handedToWaitingGetter(): Promise<void> {
  const queue = new WorkQueue<string>({ clock: realClock });
  for (const key of KEYS) {
    const next = queue.get();
    queue.add(key);
    queue.done((await next)!);
  }
}

async function fillThenDrain(): Promise<void> {
  const queue = new WorkQueue<string>({ clock: realClock });
  for (const key of KEYS) queue.add(key);
  while (queue.length > 0) queue.done((await queue.get())!);
}

async function duplicateAdds(): Promise<void> {
  const queue = new WorkQueue<string>({ clock: realClock });
  for (let index = 0; index < KEYS.length; index++) queue.add(KEYS[index % 100]!);
}

async function addAfterDistinct(): Promise<void> {
  const queue = new DelayingQueue<string>({ clock: realClock });
  // Delays in no order, all far away: nothing fires while we measure.
  KEYS.forEach((key, index) => queue.addAfter(key, 3_600_000 + ((index * 7919) % 100_003)));
  queue.shutDown();
}

async function addAfterAscending(): Promise<void> {
  const queue = new DelayingQueue<string>({ clock: realClock });
  for (const key of KEYS) queue.addAfter(key, 3_600_000);
  queue.shutDown();
}

const cases: [name: string, run: () => Promise<void>, atLeast: number][] = [
  ["interleaved add/get/done", interleaved, 3],
  ["get before add, then done", handedToWaitingGetter, 1],
  ["fill, then drain", fillThenDrain, 1],
  ["duplicate adds", duplicateAdds, 20],
  ["addAfter, delays in no order", addAfterDistinct, 1],
  ["addAfter, equal delays", addAfterAscending, 1],
];

for (const [name, run, atLeast] of cases) {
  const rates: number[] = [];
  for (let round = 0; round < 9; round++) {
    const start = performance.now();
    await run();
    rates.push(KEYS.length / 1000 / (performance.now() - start));
  }
  rates.sort((a, b) => a - b);
  const median = rates[rates.length >> 1]!;
  console.log(
    `${name.padEnd(30)} ${median.toFixed(2).padStart(7)} M/s   (goal ${atLeast}; best ${rates.at(-1)!.toFixed(2)})`,
  );
}
