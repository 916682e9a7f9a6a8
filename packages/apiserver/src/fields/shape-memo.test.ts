import { expect, test } from "vitest";

import { BuiltInSchemas } from "../schema/built-in-schemas.js";
import { ShapeMemo } from "./shape-memo.js";
import { compareTyped } from "./typed-value.js";

const schema = new BuiltInSchemas().ofType("PodSpec");
const base = { containers: null };
const spec = (image: string, ...names: string[]): object => ({
  restartPolicy: "Never",
  nodeSelector: { zone: image },
  containers: names.map((name) => ({ name, image, ports: [{ containerPort: 80, protocol: "TCP" }] })),
});

test("values of one shape share one result, whatever their scalars hold", () => {
  const memo = new ShapeMemo(schema, base);
  expect(memo.compare(spec("a", "main"))).toBe(memo.compare(spec("b", "main")));
});

test("every result is what comparing the value itself gives", () => {
  const memo = new ShapeMemo(schema, base);
  for (const value of [
    spec("a", "main"),
    spec("a", "main", "side"),
    spec("a", "side", "main"),
    spec("a"),
    { containers: null },
    { containers: [] },
    { ...spec("a", "main"), hostname: "x" },
    { hostname: "x", ...spec("a", "main") },
    { ...spec("a", "main"), securityContext: {} },
    { ...spec("a", "main"), securityContext: { runAsUser: 1 } },
  ]) {
    const { added, modified, removed } = compareTyped(schema, base, value);
    for (let time = 0; time < 2; time++) {
      const fields = memo.compare(value);
      expect(fields.changed.toJson(), JSON.stringify(value)).toEqual(added.union(modified).toJson());
      expect(fields.removed.toJson(), JSON.stringify(value)).toEqual(removed.toJson());
    }
  }
});

test("unlimited shapes do not fill the memory: results stay correct after the memo is cleared", () => {
  const memo = new ShapeMemo(schema, base);
  for (let index = 0; index < 3000; index++) memo.compare(spec("a", `main-${index}`));
  const value = spec("a", "last");
  expect(memo.compare(value).changed.toJson()).toEqual(compareTyped(schema, base, value).added.toJson());
});
