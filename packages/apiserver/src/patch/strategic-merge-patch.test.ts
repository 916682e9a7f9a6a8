import { expect, test } from "vitest";

import { cpuMs } from "../../test/cpu-time.js";
import { BuiltInSchemas } from "../schema/built-in-schemas.js";
import { strategicMergePatch } from "./strategic-merge-patch.js";

const podSpec = new BuiltInSchemas().ofType("PodSpec");
const metadata = new BuiltInSchemas().ofType("ObjectMeta");

test("lists merge by their key, and what the patch does not name stays", () => {
  const original = { containers: [{ name: "a", image: "one", env: [{ name: "X", value: "1" }] }, { name: "b" }] };
  const patched = strategicMergePatch(podSpec, original, {
    containers: [{ name: "a", image: "two", env: [{ name: "Y", value: "2" }] }],
  });
  expect(patched).toEqual({
    containers: [
      {
        name: "a",
        image: "two",
        env: [
          { name: "Y", value: "2" },
          { name: "X", value: "1" },
        ],
      },
      { name: "b" },
    ],
  });
  expect(original.containers[0]!.image).toBe("one");
});

test("directives delete elements, replace lists and maps, and take values out of lists of primitives", () => {
  expect(
    strategicMergePatch(
      podSpec,
      { volumes: [{ name: "v" }, { name: "w" }] },
      { volumes: [{ $patch: "delete", name: "v" }] },
    ),
  ).toEqual({ volumes: [{ name: "w" }] });
  expect(
    strategicMergePatch(podSpec, { volumes: [{ name: "v" }] }, { volumes: [{ name: "x" }, { $patch: "replace" }] }),
  ).toEqual({ volumes: [{ name: "x" }] });
  expect(
    strategicMergePatch(podSpec, { nodeSelector: { a: "b" } }, { nodeSelector: { $patch: "replace", c: "d" } }),
  ).toEqual({ nodeSelector: { c: "d" } });
  expect(
    strategicMergePatch(metadata, { finalizers: ["a", "b"] }, { "$deleteFromPrimitiveList/finalizers": ["a"] }),
  ).toEqual({ finalizers: ["b"] });
});

test("lists without a merge key are replaced", () => {
  expect(strategicMergePatch(podSpec, { tolerations: [{ key: "a" }] }, { tolerations: [{ key: "b" }] })).toEqual({
    tolerations: [{ key: "b" }],
  });
});

test("$retainKeys drops what it does not name, so that a volume can change its source", () => {
  const patched = strategicMergePatch(
    podSpec,
    { volumes: [{ name: "v", emptyDir: {} }] },
    { volumes: [{ name: "v", $retainKeys: ["name", "hostPath"], hostPath: { path: "/x" } }] },
  );
  expect(patched).toEqual({ volumes: [{ name: "v", hostPath: { path: "/x" } }] });
});

test("$setElementOrder orders what it names, between what only the server has", () => {
  const original = { containers: [{ name: "a" }, { name: "server" }, { name: "b" }] };
  const patched = strategicMergePatch(podSpec, original, {
    "$setElementOrder/containers": [{ name: "b" }, { name: "a" }],
    containers: [{ name: "a", image: "x" }],
  });
  expect(patched).toEqual({ containers: [{ name: "server" }, { name: "b" }, { name: "a", image: "x" }] });
});

test("an unknown directive and an element without its key are errors that show the element", () => {
  expect(() => strategicMergePatch(podSpec, {}, { containers: [{ name: "a", $patch: "frobnicate" }] })).toThrow(
    "unknown patch type: frobnicate in map: map[$patch:frobnicate name:a]",
  );
  expect(() => strategicMergePatch(podSpec, {}, { containers: [{ image: "x" }] })).toThrow(
    "map: map[image:x] does not contain declared merge key: name",
  );
});

test("elements keep their places when the patch names them in the order they stand in", () => {
  const env = ["a", "b", "c", "d"].map((name) => ({ name, value: "1" }));
  const patched = (names: readonly string[], original = env): unknown => {
    const patch = { containers: [{ name: "x", env: names.map((name) => ({ name, value: "2" })) }] };
    const { containers } = strategicMergePatch(podSpec, { containers: [{ name: "x", env: original }] }, patch) as {
      containers: [{ env: { name: string; value: string }[] }];
    };
    return containers[0].env.map(({ name, value }) => name + value).join(" ");
  };
  expect(patched(["b", "d"])).toBe("a1 b2 c1 d2");
  expect(patched(["d", "b"])).toBe("a1 c1 d2 b2");
  expect(patched(["d", "a", "c", "b"])).toBe("d2 a2 c2 b2");
  expect(patched(["e", "d", "c", "b", "a"])).toBe("e2 d2 c2 b2 a2");
  expect(patched(["b", "e"])).toBe("a1 b2 e2 c1 d1");
  // Of two elements with the same name, upstream changes the first and keeps both adjacent.
  expect(patched(["a"], [...env.slice(0, 2), env[0]!])).toBe("b1 a2 a1");
});

test("elements are deleted before others are merged, wherever they stand in the patch", () => {
  const original = { volumes: [{ name: "v", emptyDir: {} }, { name: "w" }, { name: "v" }] };
  const patch = { volumes: [{ name: "v", hostPath: {} }, { name: "v", $patch: "delete" }, { name: "w" }] };
  expect(strategicMergePatch(podSpec, original, patch)).toEqual({
    volumes: [{ name: "v", hostPath: {} }, { name: "w" }],
  });
});

test("of several elements with one key the first is changed, in short patches and in long ones", () => {
  const original = { volumes: [{ name: "v0" }, { name: "v1" }, { name: "v0" }] };
  const images = (length: number): object[] => {
    const volumes = Array.from({ length }, (_, index) => ({ name: `v${index}`, hostPath: { path: "/" } }));
    return strategicMergePatch(podSpec, original, { volumes })["volumes"] as object[];
  };
  expect(images(2)).toEqual([
    { name: "v0", hostPath: { path: "/" } },
    { name: "v0" },
    { name: "v1", hostPath: { path: "/" } },
  ]);
  expect(images(20).slice(0, 2)).toEqual(images(2).slice(0, 2));
});

test("tens of thousands of elements are deleted, changed and added in less than seconds", () => {
  const names = Array.from({ length: 30_000 }, (_, index) => `variable-${index}`);
  const patched = (patch: readonly object[]): unknown[] => {
    const original = { containers: [{ name: "x", env: names.map((name) => ({ name, value: "1" })) }] };
    const { containers } = strategicMergePatch(podSpec, original, { containers: [{ name: "x", env: patch }] }) as {
      containers: [{ env: unknown[] }];
    };
    return containers[0].env;
  };
  const startedMs = cpuMs();
  expect(patched(names.map((name) => ({ name, $patch: "delete" })))).toEqual([]);
  expect(patched(names.toReversed().map((name) => ({ name, value: "2" })))[0]).toEqual({
    name: names.at(-1),
    value: "2",
  });
  expect(patched(names.map((name) => ({ name: `new-${name}` })))).toHaveLength(60_000);
  expect(cpuMs() - startedMs).toBeLessThan(3000);
});
