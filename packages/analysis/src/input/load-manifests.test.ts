import { expect, test } from "vitest";

import { folderIo } from "../../test/folder-io.js";
import { allProblems, loadManifests } from "./load-manifests.js";
import { parseManifests } from "./parse-manifests.js";

const configMap = (name: string, more = ""): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n${more}`;

test("documents are read in order, with the line each begins at; empty ones are skipped", () => {
  const { manifests } = parseManifests(`# a comment\n---\n${configMap("a")}---\n---\n${configMap("b")}`, "f.yaml");
  expect(manifests.map(({ object, source }) => [object.metadata.name, source])).toEqual([
    ["a", "f.yaml:3"],
    ["b", "f.yaml:9"],
  ]);
});

test("a List is taken apart, and a list of one kind lends its items what they are", () => {
  const of = (list: object): string[] =>
    parseManifests(JSON.stringify(list), "f.json").manifests.map(({ object }) => `${object.apiVersion} ${object.kind}`);
  expect(
    of({ apiVersion: "v1", kind: "List", items: [{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } }] }),
  ).toEqual(["v1 ConfigMap"]);
  expect(of({ apiVersion: "batch/v1", kind: "CronJobList", items: [{ metadata: { name: "a" } }] })).toEqual([
    "batch/v1 CronJob",
  ]);
});

test("JSON objects in a row are read one by one, as jq writes them", () => {
  const one = (name: string): string =>
    JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { a: '}"{' } }, null, 2);
  const { manifests } = parseManifests(`${one("a")}\n${one("b")}`, "f.json");
  expect(manifests.map(({ object, source }) => [object.metadata.name, source])).toEqual([
    ["a", "f.json:1"],
    ["b", "f.json:11"],
  ]);
});

test("the place of a field has line and column, in documents, lists and JSON", () => {
  const text = `${configMap("a")}---\napiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Secret\n  metadata: {name: b}\n`;
  const { manifests } = parseManifests(text, "f.yaml");
  expect(manifests[0]!.place(["metadata", "name"])).toBe("f.yaml:4:9");
  expect(manifests[1]!.place(["metadata", "name"])).toBe("f.yaml:11:20");
  expect(manifests[1]!.place(["kind"], { atKey: true })).toBe("f.yaml:10:3");
  const json = parseManifests('\n{"apiVersion": "v1",\n "kind": "Secret", "metadata": {"name": "c"}}', "f.json");
  expect(json.manifests[0]!.place(["metadata", "name"])).toBe("f.json:3:41");
});

test("a folder gives the manifest files of all its folders in order of name", async () => {
  const io = folderIo({
    "m/b.yaml": configMap("b"),
    "m/a.yml": configMap("a"),
    "m/deep/er/c.json": JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" } }),
    "m/.git/config.yaml": configMap("hidden"),
    "m/node_modules/x/y.yaml": configMap("installed"),
    "m/vendor/x/y.yaml": configMap("vendored"),
  });
  const { manifests, notes, problems } = await loadManifests(["m/"], io);
  expect(manifests.map(({ object }) => object.metadata.name)).toEqual(["a", "b", "c"]);
  expect({ notes, problems }).toEqual({ notes: [], problems: [] });
});

test("files that are no manifests are passed over with a count, also when they cannot be read as YAML of one", async () => {
  const io = folderIo({
    "m/a.yaml": configMap("a"),
    "m/values.yaml": "replicas: 3\n",
    "m/values-prod.yaml": "x: {{ .y }}\n",
    "m/ci.yaml": "stages: [build]\n",
    "m/README.md": "# read me",
    "m/scenario.yaml": "apiVersion: sim.kubewright.dev/v1\nkind: Scenario\n",
    "m/list.json": "[1, 2]",
    "m/policy.yaml": "apiVersion: descheduler/v1alpha2\nkind: DeschedulerPolicy\nprofiles: []\n",
    "m/dashboard.json": '{"title": "a", }{',
  });
  const { manifests, notes, problems } = await loadManifests(["m"], io);
  expect(manifests).toHaveLength(1);
  expect(problems).toEqual([]);
  expect(notes).toEqual(["ignored: 8 files that are no manifests"]);
});

test("a chart is left out with the command to run where helm is not installed", async () => {
  const io = folderIo({
    "m/a.yaml": configMap("a"),
    "m/my chart/Chart.yaml": "name: c\n",
    "m/my chart/templates/x.yaml": "kind: {{ .Values.kind }}\n",
  });
  const { manifests, notes } = await loadManifests(["m"], io);
  expect(manifests).toHaveLength(1);
  expect(notes).toEqual([
    "left out: 1 Helm chart, because helm is not installed; install it (https://helm.sh/docs/intro/install/), or run one with helm template CHART | kubewright run -",
  ]);
});

test.each([
  [
    'E1122 11:43:40.562471   28213 run.go:72] "command failed" err="accumulating resources: no \\"b.yaml\\""\n',
    'accumulating resources: no "b.yaml"',
  ],
  [
    'E1122 11:43:40.562471   28213 run.go:72] "command failed" err=<\n\taccumulating resources: git failed\n\t: exit status 128\n >\n',
    "accumulating resources: git failed : exit status 128",
  ],
])(
  "the error of a kustomization that cannot be built is printed without kubectl's log prefix",
  async (stderr, reason) => {
    const io = folderIo({ "k/kustomization.yaml": "" }, { execute: async () => ({ status: 1, stdout: "", stderr }) });
    expect((await loadManifests(["k"], io)).problems).toEqual([`k: kubectl kustomize: ${reason}`]);
  },
);

test("charts with Jobs or CronJobs are named where helm is not installed", async () => {
  const charts = Object.fromEntries("abcdefg".split("").map((name) => [`m/${name}/Chart.yaml`, ""]));
  const io = folderIo({
    ...charts,
    "m/f/templates/deep/x.yaml": "{{- if .Values.x }}\napiVersion: batch/v1\nkind: CronJob # nightly\n{{- end }}\n",
    "m/g/templates/x.yaml": "kind: JobSet\nspec:\n  note: 'kind: Job'\n",
  });
  expect((await loadManifests(["m"], io)).notes).toEqual([
    "left out: 7 Helm charts (with Jobs or CronJobs: m/f), because helm is not installed; install it (https://helm.sh/docs/intro/install/), or run one with helm template CHART | kubewright run -",
  ]);
});

test("a kustomization that was named is built by the first tool there is", async () => {
  const files = { "k/kustomization.yaml": "resources: [a.yaml]\n", "k/a.yaml": configMap("a") };
  const tried: string[] = [];
  const io = folderIo(files, {
    execute: async (command, args) => {
      tried.push([command, ...args].join(" "));
      return command === "kustomize" ? { status: 0, stdout: configMap("built"), stderr: "" } : undefined;
    },
  });
  const { manifests } = await loadManifests(["k"], io);
  expect(tried).toEqual(["kubectl kustomize k", "kustomize build k"]);
  expect(manifests.map(({ object, source }) => [object.metadata.name, source])).toEqual([
    ["built", "k (kustomize build):1"],
  ]);
  expect((await loadManifests(["k"], folderIo(files))).problems).toEqual([
    "k: is a kustomization, and neither kubectl nor kustomize is installed to build it; install kubectl (https://kubernetes.io/docs/tasks/tools/) or kustomize (https://kubectl.docs.kubernetes.io/installation/kustomize/)",
  ]);
  const failing = folderIo(files, {
    execute: async () => ({ status: 1, stdout: "", stderr: "error: accumulating resources: no b.yaml\n" }),
  });
  expect((await loadManifests(["k"], failing)).problems).toEqual([
    "k: kubectl kustomize: error: accumulating resources: no b.yaml; what it includes runs without its patches and names",
  ]);
});

test("what SOPS has encrypted is passed over with the command that decrypts it", async () => {
  const secret = 'apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: "ENC[AES256_GCM,data:x]"}\n';
  const io = folderIo({
    "m/a.yaml": configMap("a"),
    "m/s.sops.yaml": `${secret}sops: {mac: "ENC[AES256_GCM,data:y]", version: 3.9.0}\n`,
    "m/values.sops.yaml": 'password: "ENC[AES256_GCM,data:z]"\nsops: {mac: "ENC[AES256_GCM,data:y]"}\n',
  });
  const { manifests, notes, problems } = await loadManifests(["m"], io);
  expect([manifests.length, problems]).toEqual([1, []]);
  expect(notes).toEqual([
    "m/s.sops.yaml:1: ignored: is encrypted with SOPS; run it with sops decrypt m/s.sops.yaml | kubewright run -",
    "ignored: 1 file that is no manifest",
  ]);
});

test("for an object that is twice in a list both places are printed", async () => {
  const item = "- apiVersion: v1\n  kind: Secret\n  metadata: {name: b}\n";
  const io = folderIo({ "f.yaml": `apiVersion: v1\nkind: List\nitems:\n${item}${item}` });
  expect((await loadManifests(["f.yaml"], io)).notes).toEqual([
    "f.yaml:7:3: v1 Secret default/b is also defined at f.yaml:4:3; the later definition is used, as with kubectl apply",
  ]);
});

test("an object of another API group may have no name", async () => {
  const io = folderIo({
    "m/a.yaml": "apiVersion: example.com/v1\nkind: Workflow\nmetadata: {labels: {a: b}}\n",
    "m/b.yaml": "apiVersion: batch/v1\nkind: Job\nmetadata: {labels: {a: b}}\n",
  });
  const loaded = await loadManifests(["m"], io);
  expect(loaded.manifests.map(({ object }) => object.kind)).toEqual(["Workflow"]);
  expect(allProblems(loaded)).toEqual(["m/b.yaml:1: Job: metadata.name is missing"]);
});

test("JSON that is cut off was meant to be an object, on one line and on many", async () => {
  const text = '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"';
  const io = folderIo({ "m/a.json": text, "m/b.json": text.replaceAll(", ", ",\n"), "m/c.json": '{"a": 1' });
  const loaded = await loadManifests(["m"], io);
  expect(allProblems(loaded)).toEqual([
    expect.stringMatching(/^m\/a\.json:1:\d+: not YAML: /),
    expect.stringMatching(/^m\/b\.json:3:\d+: not YAML: /),
  ]);
  expect(loaded.notes).toEqual(["ignored: 1 file that is no manifest"]);
});

test("a mistake in a list has the place of its item", () => {
  const text = "# several\napiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Secret\n  metadata: {}\n- 3\n";
  expect(allProblems(parseManifests(text, "f.yaml"))).toEqual([
    "f.yaml:5:3: Secret: metadata.name is missing",
    "f.yaml:8:3: not a Kubernetes object: a mapping with apiVersion, kind and metadata is expected",
  ]);
});

test.each(["items: []", "items:", "metadata: {}"])("a List may be empty: %s", (items) => {
  const parsed = parseManifests(`apiVersion: v1\nkind: List\n${items}\n`, "f.yaml");
  expect([parsed.manifests, parsed.problems]).toEqual([[], []]);
});

test("a list of objects that is no List is a mistake in a folder too", async () => {
  const io = folderIo({ "m/a.json": '[{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"}}]' });
  expect((await loadManifests(["m"], io)).problems).toEqual([
    "m/a.json:1: a list of objects is no object; make it the items of a List, or let jq '.[]' take it apart",
  ]);
});

test("standard input is read like a file", async () => {
  const io = folderIo({}, { readStandardInput: async () => configMap("piped") });
  const { manifests } = await loadManifests(["-"], io);
  expect(manifests.map(({ source }) => source)).toEqual(["standard input:1"]);
});

test("a broken document does not prevent other documents from being read", async () => {
  const io = folderIo({
    "m/a.yaml": `${configMap("a")}---\napiVersion: v1\nkind: [1,\nb: }\n---\n${configMap("b")}`,
    "m/b.yaml": configMap("c"),
    "m/c.yaml": "apiVersion: batch/v1\nkind: Job\nmetadata: {name: {{ .Release.Name }}}\n",
  });
  const { manifests, problems, mistakes } = await loadManifests(["m", "gone.yaml"], io);
  expect(manifests.map(({ object }) => object.metadata.name)).toEqual(["a", "b", "c"]);
  expect(problems).toEqual([
    "gone.yaml: no such file or folder",
    expect.stringMatching(/^m\/a\.yaml:8:4: not YAML: a bracket is not closed/),
  ]);
  expect(mistakes.map(({ kind, message }) => [kind, message])).toEqual([
    [
      "leftOut",
      expect.stringMatching(
        /^m\/c\.yaml:3:.*it has template actions: render it first, as with `helm template CHART \| kubewright run -`$/,
      ),
    ],
  ]);
});

test("of two manifests of one object the later counts, and a note says so", async () => {
  const io = folderIo({
    "m/a.yaml": configMap("x", "data: {v: one}\n"),
    "m/b.yaml": configMap("x", "data: {v: two}\n"),
  });
  const { manifests, notes } = await loadManifests(["m"], io);
  expect(manifests.map(({ object }) => object["data"])).toEqual([{ v: "two" }]);
  expect(notes).toEqual([
    "m/b.yaml:1: v1 ConfigMap default/x is also defined at m/a.yaml:1; the later definition is used, as with kubectl apply",
  ]);
});

test("of a repeated key the last value counts, and a note has its place", () => {
  const { manifests, warnings } = parseManifests(configMap("a", "data: {v: one}\ndata: {v: two}\n"), "f.yaml");
  expect(manifests[0]!.object["data"]).toEqual({ v: "two" });
  expect(warnings).toEqual(['f.yaml:6:1: the key "data" is repeated here; the last one counts']);
});

test.each([
  ["text that is not YAML", "a: [1,\nb: }", "f.yaml:2:4: not YAML: a bracket is not closed"],
  ["text after the line between two documents", "--- b: 2\n", "f.yaml:1: not YAML: nothing but a comment"],
  ["a document that is no mapping", "- 1\n- 2", "f.yaml:1: not a Kubernetes object"],
  ["an object without kind", "apiVersion: v1\nmetadata: {}", "f.yaml:1: kind is missing"],
  ["an object without apiVersion", "kind: Job\nmetadata: {}", "f.yaml:1: apiVersion is missing"],
  ["an apiVersion that is a number", "apiVersion: 1\nkind: Job\nmetadata: {}", "f.yaml:1: apiVersion must be text"],
  ["an object without metadata", "apiVersion: v1\nkind: Job", "f.yaml:1: metadata is missing"],
  ["an object without a name", "apiVersion: v1\nkind: Job\nmetadata: {}", "f.yaml:1: Job: metadata.name is missing"],
  ["an unknown alias", "a: *b", "f.yaml:1:4: not YAML: there is no anchor &b before the alias *b"],
  ["a scenario", "apiVersion: sim.kubewright.dev/v1\nkind: Scenario", "f.yaml:1: is a scenario and no manifest"],
])("%s is refused with file and line", (_title, text, message) => {
  expect(allProblems(parseManifests(text, "f.yaml"))).toEqual([expect.stringContaining(message)]);
});

test("aliases that multiply without end are refused", () => {
  const bomb = `a: &a [x, x]\n${"bcdefghijklmnopqrst"
    .split("")
    .map((name, index) => `${name}: &${name} [*${"abcdefghijklmnopqrs"[index]}, *${"abcdefghijklmnopqrs"[index]}]`)
    .join("\n")}`;
  expect(parseManifests(bomb, "f.yaml").problems).toEqual([expect.stringContaining("its aliases unfold to too much")]);
});
