import { objectKey } from "@kubewright/api";
import { expect, test } from "vitest";

import type { PodRequests } from "./resources.js";
import { UnschedulablePods } from "./unschedulable-pods.js";

const key = (name: string) => objectKey({ namespace: "default", name });
const small: PodRequests = { amounts: new Map(), key: "small" };
const large: PodRequests = { amounts: new Map(), key: "large" };
const any = (): boolean => true;

test("the pod that has waited longest among those that fit comes first", () => {
  const waiting = new UnschedulablePods();
  waiting.add(key("a"), large);
  waiting.add(key("b"), small);
  waiting.add(key("c"), large);
  waiting.add(key("d"), small);
  expect(waiting.takeFirst((requests) => requests.key === "small")).toBe("default/b");
  expect(waiting.takeFirst(any)).toBe("default/a");
  expect(waiting.takeFirst((requests) => requests.key === "small")).toBe("default/d");
  expect(waiting.takeFirst((requests) => requests.key === "small")).toBeUndefined();
  expect(waiting.takeFirst(any)).toBe("default/c");
  expect(waiting.size).toBe(0);
});

test("a pod waits once, at the place and with the requests it came with last", () => {
  const waiting = new UnschedulablePods();
  waiting.add(key("a"), large);
  waiting.add(key("b"), large);
  waiting.add(key("a"), small);
  expect(waiting.size).toBe(2);
  expect(waiting.takeFirst(any)).toBe("default/b");
  waiting.remove(key("a"));
  expect(waiting.has(key("a"))).toBe(false);
  expect(waiting.takeFirst(any)).toBeUndefined();
});

test("finding who fits costs one look per kind of request, not per pod", () => {
  const waiting = new UnschedulablePods();
  for (let index = 0; index < 10_000; index++) waiting.add(key(`p${index}`), index % 2 === 0 ? small : large);
  let looks = 0;
  waiting.takeFirst(() => {
    looks++;
    return false;
  });
  expect(looks).toBe(2);
});
