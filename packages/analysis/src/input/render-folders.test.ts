import { expect, test } from "vitest";

import { folderIo } from "../../test/folder-io.js";
import type { HostProcess } from "../ports/host-process.js";
import { loadManifests } from "./load-manifests.js";

const cronJob = (name: string, more = ""): string => `apiVersion: batch/v1
kind: CronJob
metadata:
  name: ${name}
${more}spec: {}
`;

/** Stands in for kubectl and helm: prints the output of a folder, and records the command lines. */
function programs(
  outputs: Readonly<Record<string, string>>,
  only: readonly string[] = ["kubectl", "helm"],
): { readonly execute: NonNullable<HostProcess["execute"]>; readonly commands: string[] } {
  const commands: string[] = [];
  return {
    commands,
    execute: async (command, args, options) => {
      if (!only.includes(command)) return undefined;
      expect(options).toMatchObject({ timeoutMs: 60_000, maxBytes: 64_000_000 });
      commands.push([command, ...args].join(" "));
      const stdout = outputs[args.find((arg) => arg in outputs) ?? ""];
      return stdout === undefined ? { status: 1, stdout: "", stderr: "no output" } : { status: 0, stdout, stderr: "" };
    },
  };
}

const names = ({ manifests }: Awaited<ReturnType<typeof loadManifests>>): (string | undefined)[] =>
  manifests.map(({ object: { metadata } }) =>
    metadata.namespace === undefined ? metadata.name : `${metadata.namespace}/${metadata.name}`,
  );

const OVERLAYS = {
  "r/README.md": "",
  "r/plain/a.yaml": cronJob("plain"),
  "r/base/kustomization.yaml": "resources: [cronjob.yaml, ../shared/b.yaml]\n",
  "r/base/cronjob.yaml": cronJob("base"),
  "r/shared/b.yaml": cronJob("shared"),
  "r/overlays/prod/kustomization.yaml":
    "resources: [../../base]\ncomponents: [../../components/quiet]\npatches: [{path: patch.yaml}]\n",
  "r/overlays/prod/patch.yaml": "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: base}\nspec: {suspend: true}\n",
  "r/components/quiet/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n",
};

test("a kustomization that no other one includes is built, and its files are read in no other way", async () => {
  const { execute, commands } = programs({ "r/overlays/prod": cronJob("base") + "---\n" + cronJob("shared") });
  const loaded = await loadManifests(["r"], folderIo(OVERLAYS, { execute }));
  expect(commands).toEqual(["kubectl kustomize r/overlays/prod"]);
  expect(names(loaded)).toEqual(["base", "shared", "plain"]);
  expect([loaded.problems, loaded.notes]).toEqual([[], ["ignored: 1 file that is no manifest"]]);
});

test("--kustomize all builds bases too, and none builds nothing and names the folders", async () => {
  const all = programs({ "r/overlays/prod": cronJob("base"), "r/base": cronJob("base") });
  await loadManifests(["r"], folderIo(OVERLAYS, { execute: all.execute }), { kustomize: "all" });
  expect(all.commands.sort()).toEqual(["kubectl kustomize r/base", "kubectl kustomize r/overlays/prod"]);
  const none = programs({});
  const loaded = await loadManifests(["r"], folderIo(OVERLAYS, { execute: none.execute }), { kustomize: "none" });
  expect(none.commands).toEqual([]);
  expect(names(loaded)).toEqual(["plain", "shared"]);
  expect(loaded.notes.slice(0, 2)).toEqual([
    "r/base: left out: is a kustomization with Jobs or CronJobs; run it with kubewright run r/base",
    "r/overlays/prod: left out: is a kustomization with Jobs or CronJobs; run it with kubewright run r/overlays/prod",
  ]);
});

test("without a program that builds kustomizations one line says so, and the rest runs", async () => {
  const loaded = await loadManifests(["r"], folderIo(OVERLAYS));
  expect(names(loaded)).toEqual(["plain"]);
  expect(loaded.notes[0]).toBe(
    "left out: 1 kustomization (with Jobs or CronJobs: r/overlays/prod), because neither kubectl nor kustomize is installed; install kubectl (https://kubernetes.io/docs/tasks/tools/) or kustomize (https://kubectl.docs.kubernetes.io/installation/kustomize/)",
  );
  expect(loaded.problems).toEqual([]);
});

test.each([
  ["a Git repository", "github.com/org/repo//path?ref=v1"],
  ["a web page", "https://example.com/all.yaml"],
  ["a Git URL", "git@github.com:org/repo.git"],
])("a kustomization with %s is left out with its command, unless the network is allowed", async (_title, remote) => {
  const files = {
    "r/k/kustomization.yaml": "resources: [../base]\n",
    "r/base/kustomization.yaml": `resources: [c.yaml, "${remote}"]\n`,
    "r/base/c.yaml": cronJob("c"),
    "r/d.yaml": cronJob("d"),
  };
  const { execute, commands } = programs({ "r/k": cronJob("c") });
  const loaded = await loadManifests(["r"], folderIo(files, { execute }));
  expect([commands, names(loaded), loaded.problems]).toEqual([[], ["d", "c"], []]);
  expect(loaded.notes).toEqual([
    `r/k: left out: a kustomization with Jobs or CronJobs: ${remote} is not in a local file; allow it with --allow-network; what it includes runs without its patches and names; run it with kubectl kustomize r/k | kubewright run -`,
    `r/base: left out: a kustomization with Jobs or CronJobs: ${remote} is not in a local file; allow it with --allow-network; what it includes runs without its patches and names; run it with kubectl kustomize r/base | kubewright run -`,
  ]);
  const allowed = await loadManifests(["r"], folderIo(files, { execute }), { allowNetwork: true });
  expect([commands, names(allowed)]).toEqual([["kubectl kustomize r/k"], ["d", "c"]]);
});

test("a folder that looks like a host is a folder if it exists", async () => {
  const files = {
    "r/kustomization.yaml": "resources: [example.com/team/app]\n",
    "r/example.com/team/app/kustomization.yaml": "resources: [c.yaml]\n",
    "r/example.com/team/app/c.yaml": cronJob("c"),
  };
  const { execute } = programs({ r: cronJob("c") });
  expect(names(await loadManifests(["r"], folderIo(files, { execute })))).toEqual(["c"]);
});

const BROKEN = {
  "r/k/kustomization.yaml": "resources: [c.yaml, ../a, ../b, gone.yaml]\n",
  "r/k/c.yaml": cronJob("c"),
  "r/a/kustomization.yaml": "resources: [a.yaml]\n",
  "r/a/a.yaml": cronJob("a"),
  "r/b/kustomization.yaml": "resources: [b.yaml]\n",
  "r/b/b.yaml": cronJob("b"),
  "r/d/kustomization.yaml": "resources: [../a]\n",
};

test("of a kustomization that cannot be built, the parts run that no other build reads", async () => {
  const { execute, commands } = programs({ "r/b": cronJob("b"), "r/d": cronJob("a", "  namespace: d\n") });
  const found = await loadManifests(["r"], folderIo(BROKEN, { execute }));
  expect(commands.sort()).toEqual(["r/b", "r/d", "r/k"].map((folder) => `kubectl kustomize ${folder}`));
  expect([names(found), found.problems]).toEqual([["d/a", "b", "c"], []]);
  expect(found.notes).toEqual([
    "r/k: left out: a kustomization with Jobs or CronJobs: kubectl kustomize: no output; what it includes runs without its patches and names; run it with kubectl kustomize r/k | kubewright run -",
  ]);
});

test("a named kustomization that cannot be built is a mistake", async () => {
  const { execute } = programs({ "r/a": cronJob("a"), "r/b": cronJob("b") });
  const named = await loadManifests(["r/k"], folderIo(BROKEN, { execute }));
  expect(named.problems).toEqual([
    "r/k: kubectl kustomize: no output; what it includes runs without its patches and names",
  ]);
});

test.each([
  ["timeout", "took longer than 60 s, the limit"],
  ["output", "printed more than 64 MB, the limit"],
] as const)("a build that reaches a limit (%s) is left out with the limit", async (ended, reason) => {
  const files = { "r/k/kustomization.yaml": "resources: [c.yaml]\n", "r/k/c.yaml": cronJob("c") };
  const execute = async () => ({ status: 1, stdout: "", stderr: "", ended });
  expect((await loadManifests(["r"], folderIo(files, { execute }))).notes[0]).toContain(
    `kubectl kustomize: ${reason}; `,
  );
});

test("a file that no kustomization includes is not run; one with a CronJob is named", async () => {
  const files = {
    "r/kustomization.yaml": "resources: [c.yaml]\nconfigMapGenerator: [{name: m, files: [k=config.yaml]}]\n",
    "r/c.yaml": cronJob("c"),
    "r/config.yaml": "a: 1\n",
    "r/old/d.yaml": cronJob("d"),
    "r/old/e.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: e}\n",
  };
  const { execute } = programs({ r: cronJob("c") });
  const loaded = await loadManifests(["r"], folderIo(files, { execute }));
  expect(names(loaded)).toEqual(["c"]);
  expect(loaded.notes).toEqual([
    "r/old/d.yaml: left out: no kustomization includes it; run it with kubewright run r/old/d.yaml",
    "left out: 1 file that no kustomization includes",
  ]);
});

test("kustomizations without CronJobs, Jobs and pods are not built", async () => {
  const files = {
    "r/a/kustomization.yaml": "resources: [x.yaml]\n",
    "r/a/x.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\n",
    "r/b/kustomization.yaml": "resources: [x.yaml]\n",
    "r/b/x.yaml": cronJob("b"),
  };
  const { execute, commands } = programs({ "r/b": cronJob("b") });
  const { notes } = await loadManifests(["r"], folderIo(files, { execute }));
  expect(commands).toEqual(["kubectl kustomize r/b"]);
  expect(notes).toEqual(["not built: 1 kustomization without CronJobs, Jobs and pods"]);
});

test("a kustomization may include files above its folder within the repository", async () => {
  const files = { "r/k/kustomization.yaml": "resources: [../c.yaml]\n", "r/c.yaml": cronJob("c") };
  const commands: string[] = [];
  const execute: HostProcess["execute"] = async (_command, args) => {
    commands.push(args.join(" "));
    return args.includes("LoadRestrictionsNone")
      ? { status: 0, stdout: cronJob("c"), stderr: "" }
      : { status: 1, stdout: "", stderr: "error: security; file '/r/c.yaml' is not in or below '/r/k'" };
  };
  expect(names(await loadManifests(["r"], folderIo(files, { execute })))).toEqual(["c"]);
  expect(commands).toEqual(["kustomize r/k", "kustomize r/k --load-restrictor LoadRestrictionsNone"]);
  commands.length = 0;
  const above = { "/top/r/k/kustomization.yaml": "resources: [../../c.yaml]\n", "/top/c.yaml": cronJob("c") };
  await loadManifests(["/top/r"], folderIo(above, { execute }));
  expect(commands).toEqual(["kustomize /top/r/k"]);
});

test("kustomizations that include each other are each built once", async () => {
  const files = {
    "r/a/kustomization.yaml": "resources: [../b, c.yaml]\n",
    "r/a/c.yaml": cronJob("c"),
    "r/b/kustomization.yaml": "resources: [../a]\n",
  };
  const { execute, commands } = programs({});
  await loadManifests(["r"], folderIo(files, { execute }));
  expect(commands).toEqual(["kubectl kustomize r/a", "kubectl kustomize r/b"]);
});

test("where overlays define the same object, production counts, otherwise the last, and a note names the others", async () => {
  const overlay = (name: string): Record<string, string> => ({
    [`r/${name}/kustomization.yaml`]: "resources: [c.yaml]\n",
    [`r/${name}/c.yaml`]: cronJob("c"),
  });
  const outputs = Object.fromEntries(
    ["dev", "prod", "staging"].map((name) => [
      `r/${name}`,
      cronJob("c", `  labels: {env: ${name}}\n`) + "---\n" + cronJob("d"),
    ]),
  );
  const env = async (...folders: string[]): Promise<readonly [unknown, readonly string[]]> => {
    const files = Object.assign({}, ...folders.map(overlay)) as Record<string, string>;
    const { manifests, notes } = await loadManifests(["r"], folderIo(files, { execute: programs(outputs).execute }));
    return [manifests[0]!.object.metadata.labels, notes];
  };
  expect(await env("dev", "prod", "staging")).toEqual([
    { env: "prod" },
    [
      "r/dev: 2 objects are also in r/prod, which counts; run this one with kubewright run r/dev",
      "r/staging: 2 objects are also in r/prod, which counts; run this one with kubewright run r/staging",
    ],
  ]);
  expect((await env("dev", "staging"))[0]).toEqual({ env: "staging" });
});

test("a Helm chart is rendered by helm; one that cannot be rendered is named with its command", async () => {
  const files = {
    "r/a/Chart.yaml": "name: a\n",
    "r/a/templates/x.yaml": "{{ fail }}\n",
    "r/b/Chart.yaml": "name: b\n",
    "r/b/templates/x.yaml": cronJob("{{ .Values.x }}"),
  };
  const { execute, commands } = programs({ "r/a": cronJob("rendered") });
  const loaded = await loadManifests(["r"], folderIo(files, { execute }));
  expect(commands.sort()).toEqual(["helm template r/a", "helm template r/b"]);
  expect(names(loaded)).toEqual(["rendered"]);
  expect(loaded.notes).toEqual([
    "r/b: left out: a Helm chart with Jobs or CronJobs: helm template: no output; run it with helm template r/b | kubewright run -",
  ]);
});

test("a chart whose dependencies are missing is named with the flag that loads them", async () => {
  const stderr =
    "Error: An error occurred while checking for chart dependencies: found in Chart.yaml, but missing in charts/ directory: common\n\nUse --debug flag to render out invalid YAML\n";
  const io = folderIo({ "r/c/Chart.yaml": "name: c\n" }, { execute: async () => ({ status: 1, stdout: "", stderr }) });
  expect((await loadManifests(["r"], io)).notes).toEqual([
    "r/c: left out: a Helm chart: helm template: An error occurred while checking for chart dependencies: found in Chart.yaml, but missing in charts/ directory: common; run it with helm template --dependency-update r/c | kubewright run -",
  ]);
});

test("a kustomization with Helm charts needs the network, and is built with --enable-helm", async () => {
  const files = {
    "r/kustomization.yaml": "helmCharts: [{name: x, repo: https://example.com, valuesFile: v.yaml}]\n",
    "r/charts/x/Chart.yaml": "name: x\n",
  };
  const { execute, commands } = programs({ r: cronJob("x") });
  expect((await loadManifests(["r"], folderIo(files, { execute }))).notes).toEqual([
    "r: left out: a kustomization: kustomize renders its Helm charts only with --allow-network; run it with kubectl kustomize --enable-helm r | kubewright run -",
  ]);
  await loadManifests(["r"], folderIo(files, { execute }), { allowNetwork: true });
  expect(commands).toEqual(["kubectl kustomize r --enable-helm"]);
});

const fluxKustomization = (name: string, path: string, spec = ""): string =>
  `apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: ${name}, namespace: flux-system}\nspec: {path: ${path}${spec}}\n`;

test("a Flux Kustomization is followed to its folder in the repository, with its namespace and variables", async () => {
  const files = {
    "r/.git/HEAD": "",
    "r/clusters/prod/a.yaml": fluxKustomization("a", "./apps/a", ", targetNamespace: team"),
    "r/clusters/prod/b.yaml": fluxKustomization("b", "./apps/b", ", postBuild: {substitute: {CRON: '5 * * * *'}}"),
    "r/clusters/prod/c.yaml": fluxKustomization("c", "./clusters/prod"),
    "r/clusters/prod/d.yaml": fluxKustomization("d", "./gone"),
    "r/apps/a/kustomization.yaml": "resources: [c.yaml]\n",
    "r/apps/a/c.yaml": cronJob("a"),
    "r/apps/b/deep/c.yaml": cronJob("b", "  labels: {a: '${CRON}', b: '${OTHER:=x}', c: '${UNKNOWN}'}\n"),
  };
  const { execute, commands } = programs({ "r/apps/a": cronJob("a") });
  const loaded = await loadManifests(["r/clusters/prod"], folderIo(files, { execute }));
  expect(commands).toEqual(["kubectl kustomize r/apps/a"]);
  expect(names(loaded).slice(4)).toEqual(["team/a", "b"]);
  expect(loaded.manifests.at(-1)!.object.metadata.labels).toEqual({ a: "5 * * * *", b: "x", c: "${UNKNOWN}" });
  expect(loaded.notes).toEqual([
    "left out: 1 folder of Flux and Argo CD objects not found in this repository: ./gone (Kustomization flux-system/d)",
  ]);
});

test("variables of Flux may stand in a ConfigMap of the repository", async () => {
  const files = {
    "r/a.yaml": fluxKustomization("a", "./apps", ", postBuild: {substituteFrom: [{kind: ConfigMap, name: settings}]}"),
    "r/settings.yaml":
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: flux-system}\ndata: {CRON: '@daily'}\n",
    "r/apps/c.yaml": cronJob("c", "  labels: {a: '${CRON}'}\n"),
  };
  const { manifests } = await loadManifests(["r"], folderIo(files));
  expect(manifests.find(({ object }) => object.kind === "CronJob")!.object.metadata.labels).toEqual({ a: "@daily" });
});

test("a folder that two Flux Kustomizations deploy runs in both namespaces", async () => {
  const files = {
    "r/a.yaml": fluxKustomization("a", "./apps", ", targetNamespace: one"),
    "r/b.yaml": fluxKustomization("b", "./apps", ", targetNamespace: two"),
    "r/apps/c.yaml": cronJob("c"),
  };
  expect(names(await loadManifests(["r"], folderIo(files))).slice(1, 3)).toEqual(["one/c", "two/c"]);
});

test("an Argo CD Application is followed, and its namespace is for objects without one", async () => {
  const application = (path: string): string =>
    `apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: app}\nspec: {source: {repoURL: https://example.com/r.git, path: ${path}}, destination: {namespace: team}}\n`;
  const files = {
    "r/.git/HEAD": "",
    "r/argocd/app.yaml": application("jobs"),
    "r/argocd/itself.yaml": application("argocd"),
    "r/argocd/other.yaml": application("../outside"),
    "r/jobs/c.yaml": cronJob("c") + "---\n" + cronJob("d", "  namespace: own\n"),
  };
  const loaded = await loadManifests(["r/argocd"], folderIo(files));
  expect(names(loaded).slice(1)).toEqual(["team/c", "own/d"]);
});

test("an OpenShift template uses its default parameters, and required ones without a default are named", async () => {
  const template = `apiVersion: template.openshift.io/v1
kind: Template
metadata: {name: t}
labels: {template: t}
parameters:
- {name: NAME, value: report}
- {name: COUNT, value: "3"}
- {name: SUFFIX, generate: expression, from: "[a-z0-9]{4}"}
- {name: EMPTY}
- {name: TAG, required: true}
- {name: UNUSED, required: true}
objects:
- {apiVersion: v1, kind: Service, metadata: {name: "\${TAG}"}}
- apiVersion: batch/v1
  kind: CronJob
  metadata: {name: "\${NAME}-\${SUFFIX}", labels: {a: "x\${EMPTY}", b: "\${TAG}"}}
  spec: {failedJobsHistoryLimit: "\${{COUNT}}"}
`;
  const { manifests, notes, problems } = await loadManifests(["m"], folderIo({ "m/my t.yaml": template }));
  expect(manifests.map(({ object }) => object)).toEqual([
    {
      apiVersion: "batch/v1",
      kind: "CronJob",
      metadata: { name: "report-aaaa", labels: { a: "x", b: "${TAG}", template: "t" } },
      spec: { failedJobsHistoryLimit: 3 },
    },
  ]);
  expect(manifests[0]!.place(["spec"])).toBe("m/my t.yaml:17:9");
  expect([problems, notes]).toEqual([
    [],
    [
      "m/my t.yaml:1: parameters without a default: TAG; run it with oc process --local -f 'm/my t.yaml' -p TAG=VALUE | kubewright run -",
    ],
  ]);
});

test.each([
  ["batch/v1beta1", "CronJob", "batch/v1", "1.25"],
  ["batch/v2alpha1", "CronJob", "batch/v1", "1.21"],
  ["rbac.authorization.k8s.io/v1beta1", "RoleBinding", "rbac.authorization.k8s.io/v1", "1.22"],
  ["policy/v1beta1", "PodDisruptionBudget", "policy/v1", "1.25"],
  ["extensions/v1beta1", "NetworkPolicy", "networking.k8s.io/v1", "1.16"],
  ["autoscaling/v2beta2", "HorizontalPodAutoscaler", "autoscaling/v2", "1.26"],
])("%s %s is read as %s, with a note", async (written, kind, stable, since) => {
  const io = folderIo({ "a.yaml": `kind: ${kind}\napiVersion: ${written}\nmetadata: {name: x}\n` });
  const { manifests, notes, problems } = await loadManifests(["a.yaml"], io);
  expect(manifests.map(({ object }) => object.apiVersion)).toEqual([stable]);
  expect([problems, notes]).toEqual([
    [],
    [
      `a.yaml:2:13: ${kind} x: runs as ${stable}: ${written} was removed in Kubernetes ${since}; write apiVersion: ${stable}, the fields are the same`,
    ],
  ]);
});

test("an Ingress of a removed version keeps it, because its fields have changed", async () => {
  const io = folderIo({ "a.yaml": "apiVersion: networking.k8s.io/v1beta1\nkind: Ingress\nmetadata: {name: x}\n" });
  const { manifests } = await loadManifests(["a.yaml"], io);
  expect(manifests[0]!.object.apiVersion).toBe("networking.k8s.io/v1beta1");
});
