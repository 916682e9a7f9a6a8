import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterEach, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";

import { runCli } from "./cli.js";

const FIXTURE = path.join(import.meta.dirname, "../../test/fixtures/backup-operator.ts");
const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

async function scratch(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "operator-cli-"));
  folders.push(folder);
  return folder;
}

async function run(...args: string[]) {
  let [out, err] = ["", ""];
  const status = await runCli(
    args,
    {
      print: (text) => void (out += text),
      printError: (text) => void (err += text),
      importModule: async (file) => (await import(file)) as object,
      readText: (file) => readFile(file, "utf8"),
      writeFile: async (file, text) => {
        await mkdir(path.dirname(file), { recursive: true });
        await writeFile(file, text);
      },
    },
    "1.2.3",
  );
  return { status, out, err };
}

test("crd writes the definitions that a module exports, in all their versions", async () => {
  const { status, out, err } = await run("crd", FIXTURE);
  expect({ status, err }).toEqual({
    status: 0,
    err: "Backup v1alpha1 is converted by a webhook, which the operator publishes to the API server when it serves it\n",
  });
  const [document, ...more] = parseAllDocuments(out);
  expect(more).toEqual([]);
  expect(document!.toJS()).toMatchObject({
    kind: "CustomResourceDefinition",
    metadata: { name: "backups.example.com" },
    spec: { versions: [{ name: "v1" }, { name: "v1alpha1", deprecated: true, deprecationWarning: "use v1" }] },
  });
  // YAML 1.1 would parse it as a number of minutes.
  expect(out).toContain('default: "12:30"');
});

test("with -o there is a file for each", async () => {
  const folder = path.join(await scratch(), "crds");
  const { status, out, err } = await run("crd", FIXTURE, "-o", folder);
  expect({ status, out }).toEqual({ status: 0, out: "" });
  expect(await readdir(folder)).toEqual(["example.com_backups.yaml"]);
  expect(err).toContain(`wrote ${path.join(folder, "example.com_backups.yaml")}`);
  expect(await readFile(path.join(folder, "example.com_backups.yaml"), "utf8")).toMatch(/^apiVersion: apiextensions/);
});

test("manifests writes all that installing takes, in order", async () => {
  const { status, out } = await run(
    "manifests",
    FIXTURE,
    "--image",
    "backup:1",
    "--namespace",
    "ops",
    "--replicas",
    "3",
  );
  expect(status).toBe(0);
  const objects = parseAllDocuments(out).map(
    (document) => document.toJS() as { kind: string; metadata: { name: string } },
  );
  expect(objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
    "Namespace ops",
    "CustomResourceDefinition backups.example.com",
    "ServiceAccount backup-operator",
    "ClusterRole backup-operator",
    "ClusterRoleBinding backup-operator",
    "Role backup-operator-leader-election",
    "RoleBinding backup-operator-leader-election",
    "Role backup-operator-webhooks",
    "RoleBinding backup-operator-webhooks",
    "Service backup-operator",
    "Deployment backup-operator",
    "ValidatingWebhookConfiguration backup-operator",
  ]);
  expect(objects.find(({ kind }) => kind === "Deployment")).toMatchObject({
    metadata: { namespace: "ops" },
    spec: { replicas: 3, template: { spec: { containers: [{ image: "backup:1" }] } } },
  });
});

test("files of manifests are named in the order in which kubectl is to apply them", async () => {
  const folder = await scratch();
  await run("manifests", FIXTURE, "-o", folder);
  const names = (await readdir(folder)).sort();
  expect(names.slice(0, 4)).toEqual([
    "01-namespace-backup-operator.yaml",
    "02-customresourcedefinition-backups.example.com.yaml",
    "03-serviceaccount-backup-operator-backup-operator.yaml",
    "04-clusterrole-backup-operator.yaml",
  ]);
  expect(names.at(-1)).toBe("12-validatingwebhookconfiguration-backup-operator.yaml");
});

test("types writes a module from definitions, and reports what it does not express", async () => {
  const definition = path.join(import.meta.dirname, "../../test/fixtures/certificate-crd.yaml");
  const { status, out, err } = await run("types", definition);
  expect(status).toBe(0);
  expect(out).toBe(await readFile(path.join(path.dirname(definition), "certificate-types.ts"), "utf8"));
  expect(err.split("\n")[0]).toBe(
    "tlscertificates.certs.example.com: spec.versions[1].schema.openAPIV3Schema.properties.spec.oneOf: is not expressed: the type allows more than the API server",
  );
  const file = path.join(await scratch(), "src/certificate.ts");
  expect(await run("types", definition, "-o", file)).toEqual({ status: 0, out: "", err: `${err}wrote ${file}\n` });
  expect(await readFile(file, "utf8")).toBe(out);
});

test("wrong usage and wrong input are one line and status 2", async () => {
  const folder = await scratch();
  const module = async (name: string, text: string) => {
    await writeFile(path.join(folder, name), text);
    return path.join(folder, name);
  };
  const empty = await module("empty.mjs", "export const a = 1;");
  const broken = await module("broken.mjs", "throw new Error('no such schema\\nat all');");
  const cases: [string[], RegExp][] = [
    [["crd"], /^kubewright-operator: missing required argument 'FILE'\n$/],
    [["crds", "a"], /^kubewright-operator: unknown command 'crds'/],
    [["crd", empty, "--out"], /^kubewright-operator: unknown option '--out'/],
    [
      ["crd", empty],
      /^kubewright-operator: .*empty\.mjs: exports no custom resource: export what defineCustomResource\(…\) answers\n$/,
    ],
    [
      ["manifests", empty],
      /^kubewright-operator: .*empty\.mjs: exports no operator: export what createOperator\(…\) answers\n$/,
    ],
    [["crd", broken], /^kubewright-operator: .*broken\.mjs: no such schema\n$/],
    [["types", path.join(folder, "none.yaml")], /^kubewright-operator: .*none\.yaml: .*no such file.*\n$/],
    [["types", empty], /^kubewright-operator: .*empty\.mjs: has no CustomResourceDefinition: .*\n$/],
    [["manifests", FIXTURE, "--replicas", "two"], /^kubewright-operator: .*--replicas.*must be a whole number.*\n$/],
  ];
  for (const [args, message] of cases) {
    const { status, out, err } = await run(...args);
    expect({ args, status, out }).toEqual({ args, status: 2, out: "" });
    expect(err).toMatch(message);
  }
});

test("--help shows examples, --version the version", async () => {
  const { status, out } = await run("crd", "--help");
  expect(status).toBe(0);
  expect(out).toContain("kubewright-operator crd src/backup.ts | kubectl apply --server-side -f -");
  expect(await run("--version")).toEqual({ status: 0, out: "1.2.3\n", err: "" });
});

test("the command itself runs TypeScript, and ends though the module holds something open", async () => {
  const folder = await scratch();
  const file = path.join(folder, "thing.ts");
  const dist = path.join(import.meta.dirname, "../../dist/index.js");
  await writeFile(
    file,
    `import { defineCustomResource, withJsonSchema } from ${JSON.stringify(dist)};
setInterval(() => {}, 1_000);
const any: object = { version: 1, vendor: "none", validate: (value: unknown) => ({ value }) };
const spec = withJsonSchema({ "~standard": any } as never, { type: "object", properties: { a: { type: "string" } } });
export const things = defineCustomResource({ group: "example.com", version: "v1", kind: "Thing", scope: "Cluster", spec });
`,
  );
  const bin = path.join(import.meta.dirname, "../../bin/kubewright-operator.js");
  const call = (...args: string[]) =>
    spawnSync(process.execPath, [bin, ...args], { encoding: "utf8", timeout: 150_000 });
  const { status, stdout, stderr } = call("crd", file);
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout).toContain("name: things.example.com");
  const none = call("crd", path.join(folder, "none.ts"));
  expect(none.status).toBe(2);
  expect(none.stderr).toBe(`kubewright-operator: ${path.join(folder, "none.ts")}: there is no such file\n`);
  const piped = spawnSync(process.execPath, [bin, "types", "-"], { encoding: "utf8", input: stdout, timeout: 150_000 });
  expect({ status: piped.status, stderr: piped.stderr }).toEqual({ status: 0, stderr: "" });
  expect(piped.stdout).toContain("export const things = defineResource<Thing>({");
});
