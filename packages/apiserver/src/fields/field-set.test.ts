import { expect, test } from "vitest";

import { FieldSet } from "./field-set.js";

const set = (json: unknown): FieldSet => FieldSet.fromJson(json);

test("sets read from managedFields are written the same way", () => {
  const json = { "f:spec": { "f:containers": { 'k:{"name":"c"}': { ".": {}, "f:image": {} } }, "f:suspend": {} } };
  expect(set(json).toJson()).toEqual(json);
});

test("union, difference and intersection go place by place", () => {
  const a = set({ "f:x": {}, "f:y": { "f:z": {} } });
  const b = set({ "f:y": { "f:z": {}, "f:w": {} } });
  expect(a.union(b).toJson()).toEqual({ "f:x": {}, "f:y": { "f:w": {}, "f:z": {} } });
  expect(a.difference(b).toJson()).toEqual({ "f:x": {} });
  expect(a.intersection(b).toJson()).toEqual({ "f:y": { "f:z": {} } });
  expect(a.difference(a).isEmpty).toBe(true);
});

test("places are printed as errors show them", () => {
  expect(
    set({
      "f:spec": { "f:ports": { 'k:{"containerPort":80,"protocol":"TCP"}': { "f:name": {} } } },
      "f:metadata": { "f:finalizers": { 'v:"a/b"': {} } },
    }).paths(),
  ).toEqual(['.spec.ports[containerPort=80,protocol="TCP"].name', '.metadata.finalizers[="a/b"]']);
});
