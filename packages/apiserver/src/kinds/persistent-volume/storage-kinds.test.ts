import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from "@kubewright/api";
import * as fc from "fast-check";
import { expect, test } from "vitest";

import { create, update, updateStatus } from "../../../test/strategy-calls.js";
import { persistentVolumeClaimStrategy } from "../persistent-volume-claim/strategy.js";
import { storageClassStrategy } from "../storage-class/strategy.js";
import { SOURCES } from "./source-validation.js";
import { persistentVolumeStrategy } from "./strategy.js";

const GI = { requests: { storage: "1Gi" } };

function claim(spec: object = {}, metadata: object = {}): object {
  return { metadata: { name: "c", ...metadata }, spec: { accessModes: ["ReadWriteOnce"], resources: GI, ...spec } };
}

function volume(spec: object = {}): object {
  return {
    metadata: { name: "v" },
    spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/x" }, ...spec },
  };
}

const modes = fc.uniqueArray(
  fc.constantFrom("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod", "Odd"),
  { maxLength: 4 },
);
const areFine = (given: readonly string[]): boolean =>
  given.length > 0 && !given.includes("Odd") && (given.length === 1 || !given.includes("ReadWriteOncePod"));

test("claims and volumes need known access modes, and ReadWriteOncePod must be the only one", () => {
  fc.assert(
    fc.property(modes, (accessModes) => {
      const fine = areFine(accessModes);
      expect(create(persistentVolumeClaimStrategy, claim({ accessModes })).message === "").toBe(fine);
      expect(create(persistentVolumeStrategy, volume({ accessModes })).message === "").toBe(fine);
    }),
  );
});

test("claims request storage, and volumes have a storage capacity only", () => {
  fc.assert(
    fc.property(fc.integer({ min: -2, max: 3 }), fc.constantFrom("", "Ki", "Gi", "m"), fc.boolean(), (n, unit, cpu) => {
      const amounts = { storage: `${n}${unit}`, ...(cpu ? { cpu: "1" } : {}) };
      const asked = create(persistentVolumeClaimStrategy, claim({ resources: { requests: amounts } }));
      expect(asked.message === "").toBe(n > 0);
      expect(create(persistentVolumeStrategy, volume({ capacity: amounts })).message === "").toBe(n > 0 && !cpu);
    }),
  );
});

const source = fc.record(
  {
    apiGroup: fc.constantFrom("", "snapshot.storage.k8s.io", "Bad_Group"),
    kind: fc.constantFrom("", "PersistentVolumeClaim", "VolumeSnapshot"),
    name: fc.constantFrom("", "a"),
  },
  { requiredKeys: ["kind", "name"] },
);

test("dataSource and dataSourceRef of a claim must both be valid and equal", () => {
  fc.assert(
    fc.property(fc.option(source, { nil: undefined }), fc.option(source, { nil: undefined }), (one, other) => {
      const given = { ...(one && { dataSource: one }), ...(other && { dataSourceRef: other }) };
      const { object, message } = create<PersistentVolumeClaim>(persistentVolumeClaimStrategy, claim(given));
      expect(object.spec?.dataSource).toEqual(one ?? other);
      expect(object.spec?.dataSourceRef).toEqual(other ?? one);
      const isGood = ({ apiGroup = "", kind, name }: { apiGroup?: string; kind: string; name: string }): boolean =>
        name !== "" && kind !== "" && apiGroup !== "Bad_Group" && (apiGroup !== "" || kind === "PersistentVolumeClaim");
      const given2 = [one, other].filter((each) => each !== undefined);
      const areOne = new Set(given2.map(({ apiGroup = "", kind, name }) => `${apiGroup}/${kind}/${name}`)).size <= 1;
      expect(message === "").toBe(given2.every(isGood) && areOne);
    }),
  );
});

const someClaim = (phase: string, capacity: string): PersistentVolumeClaim => {
  const { object } = create<PersistentVolumeClaim>(persistentVolumeClaimStrategy, claim({ storageClassName: "x" }));
  object.spec!.resources!.requests!["storage"] = "4Gi";
  object.status = { phase, capacity: { storage: capacity } };
  return object;
};

test("a bound claim may change its size, but not below its volume's capacity", () => {
  fc.assert(
    fc.property(fc.constantFrom("Pending", "Bound"), fc.integer({ min: 1, max: 8 }), (phase, size) => {
      const { message } = update(persistentVolumeClaimStrategy, someClaim(phase, "2Gi"), ({ spec }) => {
        spec!.resources!.requests!["storage"] = `${size}Gi`;
      });
      expect(message === "").toBe(size === 4 || (phase === "Bound" && size > 2));
    }),
  );
});

test.each<[string, (spec: NonNullable<PersistentVolumeClaim["spec"]>) => void, string]>([
  ["accessModes", (spec) => (spec.accessModes = ["ReadOnlyMany"]), "spec: Forbidden: spec is immutable after"],
  ["storageClassName", (spec) => (spec.storageClassName = "y"), "spec: Forbidden: spec is immutable after"],
  ["volumeMode", (spec) => (spec.volumeMode = "Block"), "[spec: Forbidden: spec is immutable after"],
  ["selector", (spec) => (spec.selector = {}), "spec: Forbidden: spec is immutable after"],
])("a claim keeps its %s", (_field, change, message) => {
  const changed = update(persistentVolumeClaimStrategy, someClaim("Bound", "1Gi"), ({ spec }) => change(spec!));
  expect(changed.message.startsWith(message)).toBe(true);
});

test("a claim's volume is set once, and its class only when it has none", () => {
  const bind = (stored: PersistentVolumeClaim, volumeName: string): ReturnType<typeof update> =>
    update(persistentVolumeClaimStrategy, stored, ({ spec }) => (spec!.volumeName = volumeName));
  const bound = bind(someClaim("Pending", "0"), "a");
  expect(bound.message).toBe("");
  expect(bind(bound.object as PersistentVolumeClaim, "b").message).toMatch(/^spec: Forbidden/);
  const { object } = create<PersistentVolumeClaim>(persistentVolumeClaimStrategy, claim());
  expect(update(persistentVolumeClaimStrategy, object, ({ spec }) => (spec!.storageClassName = "x")).message).toBe("");
});

test("quantities in a claim's status are not negative", () => {
  const change = (text: string): string =>
    updateStatus(persistentVolumeClaimStrategy, someClaim("Bound", "1Gi"), ({ status }) => {
      status!.capacity = { storage: text };
    }).message;
  expect(change("0")).toBe("");
  expect(change("-2")).toBe("status.capacity[storage]: Invalid value: -2: must be a valid resource quantity");
});

test("a volume has exactly one source with its required fields", () => {
  fc.assert(
    fc.property(fc.subarray([...SOURCES]), (sources) => {
      const given = Object.fromEntries(sources.map((name) => [name, {}]));
      const { errors } = create(persistentVolumeStrategy, volume({ hostPath: undefined, ...given }));
      const more = errors.filter(({ detail }) => detail === "may not specify more than 1 volume type");
      expect(more.length).toBe(Math.max(0, sources.length - 1));
      expect(errors.some(({ detail }) => detail === "must specify a volume type")).toBe(sources.length === 0);
      // StorageOS has no required fields. The source is no longer in use.
      expect(errors.length > more.length).toBe(sources[0] !== "storageos");
    }),
  );
});

test.each<[object, string]>([
  [{ nfs: { server: "s", path: "/p" } }, ""],
  [{ csi: { driver: "d.example.com", volumeHandle: "h" } }, ""],
  [{ csi: { driver: "Bad_", volumeHandle: "h" } }, "spec.csi.driver: Invalid value"],
  [{ fc: { targetWWNs: ["w"] } }, "spec.fc.lun: Required value: lun is required if targetWWNs is specified"],
  [{ fc: { targetWWNs: ["w"], lun: 256 } }, "spec.fc.lun: Invalid value: 256: must be between 0 and 255, inclusive"],
  [{ iscsi: { targetPortal: "p", iqn: "iqn.2001-04.com.example:storage", lun: 1 } }, ""],
  [{ iscsi: { targetPortal: "p", iqn: "iqn.2001", lun: 1 } }, "spec.iscsi.iqn: Invalid value"],
  [{ local: { path: "../x" }, nodeAffinity: { required: { nodeSelectorTerms: [{}] } } }, "spec.local.path: Invalid"],
  [
    { csi: { driver: "d", volumeHandle: "h", nodePublishSecretRef: { name: "s" } } },
    "spec.csi.nodePublishSecretRef.namespace: Required value",
  ],
  [{ hostPath: { path: "/a/.." }, persistentVolumeReclaimPolicy: "Recycle" }, "[spec.hostPath.path: Invalid value"],
])("a volume's source is held to its own rules (%#)", (spec, message) => {
  const { message: said } = create(persistentVolumeStrategy, volume({ hostPath: undefined, ...spec }));
  expect(message === "" ? said === "" : said.startsWith(message)).toBe(true);
});

test("a volume's source and mode are immutable; capacity, class, policy and claim are not", () => {
  const { object } = create<PersistentVolume>(persistentVolumeStrategy, volume());
  const change = (more: object): string =>
    update(persistentVolumeStrategy, object, ({ spec }) => Object.assign(spec!, more)).message;
  expect(change({ hostPath: { path: "/y", type: "" } })).toMatch(/^spec\.persistentvolumesource: Forbidden: /);
  expect(change({ volumeMode: "Block" })).toBe('volumeMode: Invalid value: "Block": field is immutable');
  const free = {
    capacity: { storage: "2Gi" },
    storageClassName: "b",
    persistentVolumeReclaimPolicy: "Delete",
    claimRef: { namespace: "n", name: "c" },
    nodeAffinity: { required: { nodeSelectorTerms: [{}] } },
  };
  expect(change(free)).toBe("");
});

const word = fc.constantFrom("a", "b", "bad key!");

test("topologies of a storage class have unique keys and values", () => {
  const expressions = fc.array(fc.record({ key: word, values: fc.array(word, { maxLength: 3 }) }), { maxLength: 3 });
  fc.assert(
    fc.property(expressions, (matchLabelExpressions) => {
      const allowedTopologies = [{ matchLabelExpressions }];
      const { message } = create<StorageClass>(storageClassStrategy, {
        metadata: { name: "s" },
        provisioner: "p",
        allowedTopologies,
      });
      const keys = matchLabelExpressions.map(({ key }) => key);
      const fine =
        keys.length > 0 &&
        !keys.includes("bad key!") &&
        new Set(keys).size === keys.length &&
        matchLabelExpressions.every(({ values }) => values.length > 0 && new Set(values).size === values.length);
      expect(message === "").toBe(fine);
    }),
  );
});

test("a storage class may change allowVolumeExpansion and mountOptions only", () => {
  const { object } = create<StorageClass>(storageClassStrategy, { metadata: { name: "s" }, provisioner: "p" });
  const change = (more: object): string =>
    update(storageClassStrategy, object, (next) => void Object.assign(next, more)).message;
  expect(change({ allowVolumeExpansion: true, mountOptions: ["ro"] })).toBe("");
  for (const [field, value] of Object.entries({
    provisioner: "q",
    parameters: { a: "1" },
    reclaimPolicy: "Retain",
    volumeBindingMode: "WaitForFirstConsumer",
  }))
    expect(change({ [field]: value })).toBe(`${field}: Invalid value: ${JSON.stringify(value)}: field is immutable`);
});
