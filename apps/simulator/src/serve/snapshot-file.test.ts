import { expect, test } from "vitest";
import type { KubernetesObject } from "@kubewright/api";

import { memoryIo } from "../../test/memory-io.js";
import { readSnapshot, writeSnapshot } from "./snapshot-file.js";

const configMap = (name: string, content: object = {}): KubernetesObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "default" },
  ...content,
});

test("an object that cannot be written is omitted and named, and the others are written", async () => {
  const { io, written } = memoryIo();
  const endless: { again?: object } = {};
  endless.again = endless;
  const snapshot = {
    resourceVersion: "7",
    objects: {
      "/configmaps": [configMap("a"), configMap("b", { data: endless }), configMap("c")],
      "example.com/widgets": [{ kind: "Widget", metadata: { name: "w" }, size: 1n }],
      "/nodes": [{ kind: "Node", metadata: { name: "n" } }],
    },
  };
  const omitted = await writeSnapshot("store.json", snapshot, io);
  expect(omitted).toEqual([
    "configmaps default/b: Converting circular structure to JSON",
    "example.com/widgets w: Do not know how to serialize a BigInt",
  ]);
  const { io: next } = memoryIo({ files: written });
  expect(await readSnapshot("store.json", next)).toEqual({
    resourceVersion: "7",
    objects: {
      "/configmaps": [configMap("a"), configMap("c")],
      "example.com/widgets": [],
      "/nodes": [{ kind: "Node", metadata: { name: "n" } }],
    },
  });
});
