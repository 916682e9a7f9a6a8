import { type DeepReadonly, type ObjectKey, type Pod } from "@kubewright/api";
import * as fc from "fast-check";
import { expect, test } from "vitest";

import { show } from "../test/informer-fixture.js";
import { pod } from "../test/scripted-server.js";
import { namespaceIndex, namespaceIndexValues } from "./indexers.js";
import { Store } from "./store.js";

const byLabel = (object: DeepReadonly<Pod>): readonly string[] =>
  (object.metadata.labels?.["values"] ?? "").split(",").filter((value) => value !== "");

function labelled(name: string, resourceVersion: string, values: string): Pod {
  return pod(name, resourceVersion, { labels: { values } });
}

test("objects are found by key, and replaced by newer ones", () => {
  const store = new Store<Pod>();
  expect(store.add(pod("a", "1"))).toBeUndefined();
  expect(show(store.update(pod("a", "2"))!)).toBe("a@1");
  expect(show(store.get("default/a" as ObjectKey)!)).toBe("a@2");
  expect(show(store.delete(pod("a", "3"))!)).toBe("a@2");
  expect(store.delete(pod("a", "3"))).toBeUndefined();
  expect(store.size).toBe(0);
});

test("an index follows its objects from value to value, and forgets values without objects", () => {
  const store = new Store<Pod>({ indexers: { label: byLabel } });
  store.add(labelled("a", "1", "x,y"));
  store.add(labelled("b", "1", "y"));
  expect(store.byIndex("label", "y").map(show)).toEqual(["a@1", "b@1"]);
  store.update(labelled("a", "2", "y,z"));
  expect(store.indexValues("label").sort()).toEqual(["y", "z"]);
  expect(store.byIndex("label", "z").map(show)).toEqual(["a@2"]);
  store.update(labelled("a", "3", ""));
  expect(store.indexValues("label")).toEqual(["y"]);
  store.delete(pod("b", "4"));
  expect(store.indexValues("label")).toEqual([]);
});

test("an object under no value is not one under the empty value", () => {
  const store = new Store<Pod>({
    indexers: { label: ({ metadata }) => metadata.labels?.["values"]?.split(",") ?? [] },
  });
  store.add(labelled("a", "1", ""));
  expect(store.byIndex("label", "").map(show)).toEqual(["a@1"]);
  store.update(pod("a", "2"));
  expect(store.byIndex("label", "")).toEqual([]);
  store.update(labelled("a", "3", ""));
  expect(store.byIndex("label", "").map(show)).toEqual(["a@3"]);
});

test("an index function is called once for each object", () => {
  const calls: string[] = [];
  const store = new Store<Pod>({
    indexers: {
      counted: (object) => {
        calls.push(show(object));
        return ["value"];
      },
    },
  });
  const a = pod("a", "1");
  store.add(a);
  store.update(pod("a", "2"));
  store.delete(pod("a", "3"));
  store.replace([a], "3");
  store.replace([a, pod("b", "4")], "4");
  expect(calls).toEqual(["a@1", "a@2", "a@1", "b@4"]);
});

test("indexes may be added when there are objects, under names that are free", () => {
  const store = new Store<Pod>();
  store.add(labelled("a", "1", "x"));
  store.addIndexers({ label: byLabel });
  expect(store.byIndex("label", "x").map(show)).toEqual(["a@1"]);
  store.update(labelled("a", "2", "y"));
  expect(store.indexValues("label")).toEqual(["y"]);
  store.addIndexers({ label: byLabel });
  expect(() => store.addIndexers({ other: byLabel, label: () => [] })).toThrow("indexer conflict: label");
  expect(() => store.byIndex("other", "x")).toThrow("Index with name other does not exist");
});

test("an index function that throws is named with its object, and changes nothing", () => {
  const store = new Store<Pod>({
    indexers: {
      label: byLabel,
      broken: (object) => {
        if (object.metadata.name === "bad") throw new Error("no such label");
        return [];
      },
    },
  });
  store.add(labelled("a", "1", "x"));
  expect(() => store.add(labelled("bad", "2", "x"))).toThrow(
    'unable to calculate an index entry for key "default/bad" on index "broken": no such label',
  );
  expect(() => store.replace([labelled("bad", "2", "x")], "3")).toThrow("default/bad");
  expect(store.list().map(show)).toEqual(["a@1"]);
  expect(store.byIndex("label", "x").map(show)).toEqual(["a@1"]);
  expect(store.lastStoreSyncResourceVersion).toBe("1");
});

test("replace exchanges the whole content in one step, and returns what changed", () => {
  const store = new Store<Pod>({ indexers: { label: byLabel } });
  store.add(labelled("a", "1", "x"));
  store.add(labelled("b", "2", "x"));
  const { vanished, present } = store.replace([labelled("a", "3", "y"), labelled("c", "4", "y")], "10");
  expect(vanished.map(({ key, object }) => `${key} ${show(object)}`)).toEqual(["default/b b@2"]);
  expect(present.map(({ old, object }) => `${old === undefined ? "none" : show(old)} ${show(object)}`)).toEqual([
    "a@1 a@3",
    "none c@4",
  ]);
  expect(store.list().map(show)).toEqual(["a@3", "c@4"]);
  expect(store.indexValues("label")).toEqual(["y"]);
});

test("the store's version is that of the last list, object, deletion or bookmark", () => {
  const store = new Store<Pod>();
  expect(store.lastStoreSyncResourceVersion).toBe("");
  store.replace([pod("a", "7")], "10");
  expect(store.lastStoreSyncResourceVersion).toBe("10");
  store.update(pod("a", "12"));
  expect(store.lastStoreSyncResourceVersion).toBe("12");
  store.delete(pod("a", "13"));
  expect(store.lastStoreSyncResourceVersion).toBe("13");
  store.bookmark("20");
  expect(store.lastStoreSyncResourceVersion).toBe("20");
});

test("a namespace is listed with and without its index, and no namespace means all", () => {
  for (const indexers of [{}, { [namespaceIndex]: namespaceIndexValues }]) {
    const store = new Store<Pod>({ indexers });
    store.add(pod("a", "1"));
    store.add(pod("b", "2", { namespace: "other" }));
    expect(store.listNamespace("other").map(show)).toEqual(["b@2"]);
    expect(store.listNamespace("none")).toEqual([]);
    expect(store.listNamespace("").length).toBe(2);
  }
});

test("after any changes, every index agrees with a full scan", () => {
  const object = fc.record({
    name: fc.constantFrom("a", "b", "c", "d"),
    values: fc.uniqueArray(fc.constantFrom("x", "y", "z")),
  });
  const change = fc.oneof(
    fc.record({ type: fc.constantFrom("update" as const, "delete" as const), object }),
    fc.record({
      type: fc.constant("replace" as const),
      objects: fc.uniqueArray(object, { selector: ({ name }) => name }),
    }),
  );
  fc.assert(
    fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
      const store = new Store<Pod>({ indexers: { label: byLabel } });
      changes.forEach((step, index) => {
        const make = ({ name, values }: { name: string; values: string[] }): Pod =>
          labelled(name, `${index + 1}`, values.join(","));
        if (step.type === "replace") store.replace(step.objects.map(make), `${index + 1}`);
        else store[step.type](make(step.object));
        for (const value of ["x", "y", "z"]) {
          const scanned = store.list().filter((candidate) => byLabel(candidate).includes(value));
          expect(new Set(store.byIndex("label", value))).toEqual(new Set(scanned));
        }
        expect(new Set(store.indexValues("label"))).toEqual(new Set(store.list().flatMap(byLabel)));
      });
    }),
  );
});

test("an index first queried after adds, updates and deletes contains all current objects", () => {
  const store = new Store<Pod>({ indexers: { label: byLabel } });
  for (const name of ["a", "b", "c"]) store.add(labelled(name, "1", "x"));
  store.update(labelled("a", "2", "y"));
  store.delete(labelled("b", "3", "x"));
  expect(store.indexValues("label").sort()).toEqual(["x", "y"]);
  expect(store.byIndex("label", "x").map(show)).toEqual(["c@1"]);
  store.replace([labelled("a", "2", "x")], "4");
  expect(store.byIndex("label", "x").map(show)).toEqual(["a@2"]);
});

test("a value may have any number of objects, which come and go in any order", () => {
  const store = new Store<Pod>({ indexers: { label: byLabel } });
  const shown = (): string[] => store.byIndex("label", "x").map((object) => object.metadata.name!);
  const names = Array.from("abcdefghijklmnopqrst");
  expect(shown()).toEqual([]);
  names.forEach((name, index) => {
    store.add(labelled(name, "1", "x"));
    expect(shown()).toEqual(names.slice(0, index + 1));
  });
  store.update(labelled("a", "2", "x"));
  expect(shown()).toEqual(names);
  for (const name of ["b", "t", "a", ...names.slice(2, -1)]) {
    store.delete(labelled(name, "3", "x"));
    expect(shown()).not.toContain(name);
  }
  expect(store.indexValues("label")).toEqual([]);
  for (const name of ["a", "b", "c"]) store.add(labelled(name, "4", "x"));
  store.delete(labelled("b", "5", "x"));
  expect(shown()).toEqual(["a", "c"]);
  store.update(labelled("c", "6", ""));
  store.delete(labelled("a", "7", "x"));
  expect(store.indexValues("label")).toEqual([]);
});
