import { SimulatedClock } from "@kubewright/clock";
import { type Logger, silentLogger } from "@kubewright/controller";
import { expect, test } from "vitest";

import { pollForChanges } from "./poll-for-changes.js";

test("changed content is applied; an unreadable or unusable one is logged once and retried", async () => {
  const clock = new SimulatedClock();
  const lines: string[] = [];
  const logger: Logger = {
    ...silentLogger,
    info: (_fields, message) => void lines.push(message),
    error: (fields, message) => void lines.push(`${message}: ${(fields as { err: string }).err}`),
  };
  let content = "a";
  const applied: string[] = [];
  const read = async (): Promise<string> => {
    if (content === "") throw new Error("gone");
    return content;
  };
  const apply = (text: string): void => {
    if (text === "broken") throw new Error("unusable");
    applied.push(text);
  };
  const stop = new AbortController();
  const done = pollForChanges(
    { name: "f", read, initial: "a", intervalMs: 10_000, apply },
    { clock, logger },
    stop.signal,
  );
  await clock.advance(30_000);
  expect([applied, lines]).toEqual([[], []]);
  content = "b";
  await clock.advance(10_000);
  content = "";
  await clock.advance(50_000);
  content = "b";
  await clock.advance(10_000);
  content = "broken";
  await clock.advance(20_000);
  content = "c";
  await clock.advance(10_000);
  expect(applied).toEqual(["b", "c"]);
  expect(lines).toEqual([
    "Reloaded",
    "Could not reload, keeping the previous content: gone",
    "Can be read again",
    "Could not reload, keeping the previous content: unusable",
    "Reloaded",
  ]);
  stop.abort();
  await done;
});
