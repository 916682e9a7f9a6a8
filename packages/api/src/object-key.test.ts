import { expect, test } from "vitest";

import { keyOf, objectKey, splitObjectKey } from "./object-key.js";

test("a key is namespace/name, or the name alone for a cluster-scoped object", () => {
  expect(objectKey({ namespace: "default", name: "pi" })).toBe("default/pi");
  expect(objectKey({ name: "node-1" })).toBe("node-1");
  expect(objectKey({ namespace: "", name: "node-1" })).toBe("node-1");
  expect(keyOf({ metadata: { namespace: "default", name: "pi" } })).toBe("default/pi");
});

test("splitting undoes joining and refuses a third part", () => {
  expect(splitObjectKey("default/pi")).toEqual({ namespace: "default", name: "pi" });
  expect(splitObjectKey("node-1")).toEqual({ namespace: "", name: "node-1" });
  expect(() => splitObjectKey("a/b/c")).toThrow('unexpected key format: "a/b/c"');
});
