#!/usr/bin/env node
// Benchmark of the throughput of the work queues over 1,000,000 distinct string keys. Prints one JSON line. Needs `npm
// run build`.
//
//     node bench/workqueue.mjs [--rounds 9] [--only NAME]
//
// Figures are millions of items per second, the median of the rounds; `best` is the fastest round.
import os from "node:os";
import { parseArgs } from "node:util";

import { realClock } from "@kubewright/clock";
import { DelayingQueue, PriorityQueue, WorkQueue, defaultControllerRateLimiter } from "@kubewright/workqueue";

const { values: options } = parseArgs({
  options: { rounds: { type: "string", default: "9" }, only: { type: "string" } },
});
const ROUNDS = Number(options.rounds);
const KEYS = Array.from({ length: 1_000_000 }, (_, index) => `default/job-${index}`);
// Flattens and hashes each string once, like keys read from a cache.
new Set(KEYS);

/** Measurements, with the goals of the design. */
const rows = {
  interleaved: { goal: 3, run: () => interleaved(new WorkQueue({ clock: realClock })) },
  // As in a controller: a hundred keys are added in one turn of the event loop, and a worker waits in `get`.
  producerAndConsumer: { run: () => producerAndConsumer(new WorkQueue({ clock: realClock })) },
  fillThenDrain: { goal: 1, run: () => fillThenDrain(new WorkQueue({ clock: realClock })) },
  duplicateAdds: { goal: 20, run: duplicateAdds },
  addAfter: { goal: 1, run: addAfter },
  // The cost of the priority queue, without a goal.
  priorityInterleaved: { run: () => interleaved(priorityQueue()) },
  priorityFillThenDrain: { run: () => fillThenDrain(priorityQueue()) },
};

function priorityQueue() {
  return new PriorityQueue({ clock: realClock, rateLimiter: defaultControllerRateLimiter({ clock: realClock }) });
}

async function interleaved(queue) {
  for (const key of KEYS) {
    queue.add(key);
    queue.done(await queue.get());
  }
}

async function producerAndConsumer(queue) {
  const consumer = (async () => {
    for (let key = await queue.get(); key !== undefined; key = await queue.get()) queue.done(key);
  })();
  for (let from = 0; from < KEYS.length; from += 100) {
    for (let index = from; index < from + 100; index++) queue.add(KEYS[index]);
    await realClock.yieldToEventLoop();
  }
  queue.shutDown();
  await consumer;
}

async function fillThenDrain(queue) {
  for (const key of KEYS) queue.add(key);
  while (queue.length > 0) queue.done(await queue.get());
}

function duplicateAdds() {
  const queue = new WorkQueue({ clock: realClock });
  for (let index = 0; index < KEYS.length; index++) queue.add(KEYS[index % 100]);
}

function addAfter() {
  const queue = new DelayingQueue({ clock: realClock });
  // Unordered delays in the far future: no timer fires during the measurement.
  for (let index = 0; index < KEYS.length; index++) queue.addAfter(KEYS[index], 3_600_000 + ((index * 7919) % 100_003));
  queue.shutDown();
}

const results = {};
for (const [name, { goal, run }] of Object.entries(rows)) {
  if (options.only !== undefined && options.only !== name) continue;
  const rates = [];
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now();
    await run();
    rates.push(KEYS.length / 1000 / (performance.now() - start));
  }
  rates.sort((a, b) => a - b);
  const median = rates[rates.length >> 1];
  results[name] = {
    median: round(median),
    best: round(rates.at(-1)),
    ...(goal === undefined ? {} : { goal, met: median >= goal }),
  };
}
console.log(
  JSON.stringify({
    bench: "workqueue",
    unit: "million items/s",
    node: process.version,
    cpu: os.cpus()[0]?.model,
    rows: results,
  }),
);

function round(value) {
  return Math.round(value * 100) / 100;
}
