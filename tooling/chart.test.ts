import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import type { Deployment, KubernetesObject, Role } from "@kubewright/api";
import { Ajv } from "ajv";
import { describe, expect, onTestFinished, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";

import { whyKubectlIsMissing } from "../packages/cluster/test/kubectl-fixture.js";
import { root } from "./public-packages.ts";

// helm is not available here. The chart uses only functions of Go's own templates, so that kubectl can render it with
// the same engine, without helm's functions.

const chart = path.join(root, "deploy/chart");
const templates = path.join(chart, "templates");
const kubectl = process.env["KUBECTL"] ?? "kubectl";
const readYaml = (file: string): Values => parse(readFileSync(path.join(chart, file), "utf8")) as Values;
const validate = new Ajv().compile(JSON.parse(readFileSync(path.join(chart, "values.schema.json"), "utf8")) as object);

type Values = Readonly<Record<string, unknown>>;

function render(values: Values, namespace = "kubewright-system"): KubernetesObject[] {
  const folder = mkdtempSync(path.join(tmpdir(), "kubewright-chart-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const context = {
    apiVersion: "example.com/v1",
    kind: "Context",
    metadata: { name: "context" },
    Values: { ...readYaml("values.yaml"), ...values },
    Release: { Namespace: namespace },
    Chart: { AppVersion: readYaml("Chart.yaml")["appVersion"] },
  };
  expect(validate(context.Values), JSON.stringify(validate.errors)).toBe(true);
  const files = readdirSync(templates).filter((file) => file.endsWith(".yaml"));
  const whole = files.map((file) => readFileSync(path.join(templates, file), "utf8")).join("---\n");
  const [contextFile, templateFile] = [path.join(folder, "context.json"), path.join(folder, "template")];
  writeFileSync(contextFile, JSON.stringify(context));
  writeFileSync(templateFile, whole);
  const args = ["label", "--local", "-f", contextFile, "rendered=true", "-o", `go-template-file=${templateFile}`];
  return objectsOf(execFileSync(kubectl, args, { encoding: "utf8" }));
}

function objectsOf(text: string): KubernetesObject[] {
  const documents = parseAllDocuments(text);
  for (const { errors } of documents) expect(errors).toEqual([]);
  const objects = documents.map((document) => document.toJS() as KubernetesObject | null);
  return objects.filter((object) => object !== null).sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
}

const idOf = ({ kind, metadata }: KubernetesObject): string => `${kind} ${metadata.namespace} ${metadata.name}`;

describe.skipIf(whyKubectlIsMissing !== undefined)("the chart", () => {
  test.each([
    ["managed-by", "kubewright-system", { mode: "managed-by" }],
    ["namespaced", "team-a", { mode: "namespaced" }],
    ["whole-cluster", "kubewright-system", { mode: "whole-cluster" }],
    ["sharded", "kubewright-system", { mode: "whole-cluster", sharding: true, replicas: 3 }],
  ])(
    "has the same objects as deploy/overlays/%s, but for the namespace, which helm makes",
    (name, namespace, values) => {
      const overlay = path.join(root, "deploy/overlays", name);
      const wanted = objectsOf(execFileSync(kubectl, ["kustomize", overlay], { encoding: "utf8" }));
      expect(render(values, namespace)).toEqual(wanted.filter(({ kind }) => kind !== "Namespace"));
    },
  );

  test("puts values where they belong", () => {
    const objects = render({
      managedBy: { domain: "batch.example.org", name: "ours" },
      image: { repository: "registry.example.com/manager", tag: "1.2.3" },
      replicas: 3,
      extraArgs: ["--v=2", '--kube-api-qps=50 "quoted"'],
      priorityClassName: "high",
      resources: { requests: { cpu: "1", memory: "1Gi" }, limits: { memory: "2Gi" } },
      serviceMonitor: true,
    });
    const { spec } = objects.find(({ kind }) => kind === "Deployment") as Deployment;
    expect(spec).toMatchObject({ replicas: 3, template: { spec: { priorityClassName: "high" } } });
    expect(spec!.template.spec!.containers[0]).toMatchObject({
      image: "registry.example.com/manager:1.2.3",
      resources: { requests: { cpu: "1", memory: "1Gi" }, limits: { memory: "2Gi" } },
    });
    expect(spec!.template.spec!.containers[0]!.args).toEqual(
      expect.arrayContaining(["--managed-by=batch.example.org/ours", "--v=2", '--kube-api-qps=50 "quoted"']),
    );
    const digest = `sha256:${"0123456789abcdef".repeat(4)}`;
    const [pinned] = render({ image: { repository: "registry.example.com/manager", tag: "1.2.3", digest } }).filter(
      ({ kind }) => kind === "Deployment",
    ) as Deployment[];
    expect(pinned!.spec!.template.spec!.containers[0]!.image).toBe(`registry.example.com/manager@${digest}`);
    const role = objects.find(({ metadata }) => metadata.name === "kubewright-leader-election") as Role;
    expect(role.rules![1]!.resourceNames).toEqual(["kubewright-controller-manager-batch.example.org--ours"]);
    expect(objects.map(({ kind }) => kind)).toContain("ServiceMonitor");
  });
});

test("invalid values of the chart are rejected by its schema", () => {
  const values = readYaml("values.yaml");
  expect(validate(values)).toBe(true);
  for (const wrong of [
    { mode: "all" },
    { managedBy: "x" },
    { replica: 3 },
    { extraArgs: "--v=2" },
    { replicas: "2" },
    { sharding: true },
    { image: { repository: "manager", digest: "1.2.3" } },
  ])
    expect(validate({ ...values, ...wrong }), JSON.stringify(wrong)).toBe(false);
});
