import { parentPort, workerData } from "node:worker_threads";

import { NodeHeap } from "./heap.js";
import { type SegmentChunk, ThreadSegmentRunner } from "@kubewright/analysis/run";
import type { SegmentResponse, SegmentRequest, SegmentThreadData } from "./segment-threads.js";

// The worker thread of `segment-threads.ts`.
const { segments, options, currentIndex } = workerData as SegmentThreadData;
const runner = new ThreadSegmentRunner(segments, options, { onSegment: (index) => (currentIndex[0] = index) });
const heap = new NodeHeap();

parentPort?.on("message", (request: SegmentRequest) => {
  void (request.type === "run" ? run(request.untilMs) : end()).catch((error: unknown) => respond({ error }));
});

async function run(untilMs: number): Promise<void> {
  const chunks = await runner.run(untilMs);
  heap.limitGrowth();
  respond({ result: chunks }, chunks.flatMap(buffersOf));
}

async function end(): Promise<void> {
  const ends = await runner.end();
  respond(
    { result: ends },
    ends.flatMap(({ chunk }) => buffersOf(chunk)),
  );
}

/** @param buffers - Transferred, not copied. */
function respond(response: SegmentResponse, buffers: ArrayBuffer[] = []): void {
  parentPort?.postMessage(response, buffers);
}

function buffersOf({ marks, levels }: SegmentChunk): ArrayBuffer[] {
  return [marks.buffer, levels.buffer].filter((buffer) => buffer instanceof ArrayBuffer);
}
