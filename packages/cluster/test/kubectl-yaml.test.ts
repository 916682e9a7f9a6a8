import { YamlDocument } from "@kubewright/apiserver/yaml";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { KubectlCluster, whyKubectlIsMissing } from "./kubectl-fixture.js";
import { documents, scalars } from "./yaml-cases.js";

const definition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: things.example.com }
spec:
  group: example.com
  names: { kind: Thing, plural: things }
  scope: Namespaced
  versions:
    - name: v1
      served: true
      storage: true
      schema: { openAPIV3Schema: { type: object, x-kubernetes-preserve-unknown-fields: true } }
`;

const head = "apiVersion: example.com/v1\nkind: Thing\nmetadata: { name: a }\n";

describe.skipIf(whyKubectlIsMissing !== undefined)("YAML means to us what it means to kubectl", () => {
  let k: KubectlCluster;

  beforeAll(async () => {
    k = await KubectlCluster.start();
    await k.kubectl("create -f -", { input: definition });
    await k.kubectl("wait --for=condition=Established crd/things.example.com");
  });
  afterAll(() => k.close());

  const asKubectlReadsIt = async (input: string): Promise<unknown> => {
    const { code, stdout } = await k.run("create --dry-run=server -o json -f -", { input });
    if (code !== 0) return "refused";
    const {
      apiVersion: _version,
      kind: _kind,
      metadata: _metadata,
      ...rest
    } = JSON.parse(stdout) as object & {
      apiVersion: string;
      kind: string;
      metadata: object;
    };
    return rest;
  };

  const asWeReadIt = (input: string): unknown => {
    try {
      const {
        apiVersion: _v,
        kind: _k,
        metadata: _m,
        ...rest
      } = new YamlDocument(input).value() as Record<string, unknown>;
      return rest;
    } catch {
      return "refused";
    }
  };

  test(`${scalars.length} scalars, in a block and in a list`, async () => {
    const block = `${head}values:\n${scalars.map((scalar) => `- ${scalar}\n`).join("")}`;
    expect(asWeReadIt(block)).toEqual(await asKubectlReadsIt(block));
    const keys = `${head}keys:\n${scalars
      .filter((scalar) => /^[\w.]+$/.test(scalar) && !/^(null|Null|NULL)$/.test(scalar))
      .map((scalar) => `  - { ${scalar}: x }\n`)
      .join("")}`;
    expect(asWeReadIt(keys)).toEqual(await asKubectlReadsIt(keys));
  });

  test.each(documents)("%s", async (_title, text) => {
    expect(asWeReadIt(head + text)).toEqual(await asKubectlReadsIt(head + text));
  });
});
