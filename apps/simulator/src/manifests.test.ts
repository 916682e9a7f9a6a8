import { expect, test } from "vitest";

import type { Io } from "./io.js";
import { loadManifests, parseManifests } from "./manifests.js";

function files(contents: Record<string, string>): Pick<Io, "readFile" | "listFolder"> {
  return {
    readFile: async (path) => {
      const text = contents[path];
      if (text === undefined) throw Object.assign(new Error(`ENOENT: ${path}`), { code: "ENOENT" });
      return text;
    },
    listFolder: async (folder) => {
      const path = folder.replace(/\/$/, "");
      const names = Object.keys(contents)
        .filter((name) => name.startsWith(`${path}/`))
        .map((name) => name.slice(path.length + 1));
      if (names.length > 0) return names;
      if (contents[path] === undefined) throw Object.assign(new Error(`ENOENT: ${path}`), { code: "ENOENT" });
      return undefined;
    },
  };
}

const configMap = (name: string): string => `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n`;

test("documents are read in order, with the line each begins at; empty ones are skipped", () => {
  const manifests = parseManifests(`# a comment\n---\n${configMap("a")}---\n---\n${configMap("b")}`, "f.yaml");
  expect(manifests.map(({ object, source }) => [object.metadata.name, source])).toEqual([
    ["a", "f.yaml:3"],
    ["b", "f.yaml:9"],
  ]);
});

test("a List is taken apart", () => {
  const text = JSON.stringify({
    apiVersion: "v1",
    kind: "List",
    items: [{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } }],
  });
  expect(parseManifests(text, "f.json").map(({ object }) => object.kind)).toEqual(["ConfigMap"]);
});

test("a folder gives its manifest files in order of name, and nothing else", async () => {
  const io = files({ "m/b.yaml": configMap("b"), "m/a.yml": configMap("a"), "m/notes.txt": "not a manifest" });
  const manifests = await loadManifests(["m/"], io);
  expect(manifests.map(({ object }) => object.metadata.name)).toEqual(["a", "b"]);
});

test.each([
  ["text that is not YAML", "a: [1,\nb: }", "f.yaml:2:1: not YAML: "],
  ["a document that is no mapping", "- 1\n- 2", "f.yaml:1: not a Kubernetes object"],
  ["an object without kind", "apiVersion: v1\nmetadata: {}", "f.yaml:1: kind is missing"],
  ["an object without apiVersion", "kind: Job\nmetadata: {}", "f.yaml:1: apiVersion is missing"],
  ["an object without metadata", "apiVersion: v1\nkind: Job", "f.yaml:1: metadata is missing"],
  ["a list in too many lists", `a: 1\nb: ${"[".repeat(20_000)}`, "f.yaml:2:505: is nested too deeply"],
  ["a list in too many lists, in a block", `a:\n  ${"- ".repeat(20_000)}`, "f.yaml:2:1004: is nested too deeply"],
  ["an object in too many objects, in JSON", '{"a":'.repeat(20_000), "f.yaml:1:2507: is nested too deeply"],
  ["a value that holds itself", "a: &a {b: *a}", "f.yaml:1: an alias makes a value contain itself"],
])("%s is refused with file and line", (_title, text, message) => {
  expect(() => parseManifests(text, "f.yaml")).toThrow(message);
});

test("a missing file is named", async () => {
  await expect(loadManifests(["gone.yaml"], files({}))).rejects.toThrow("gone.yaml: no such file or folder");
});

test("files without any object are refused rather than played as nothing", async () => {
  await expect(loadManifests(["empty.yaml"], files({ "empty.yaml": "# nothing\n" }))).rejects.toThrow(
    "empty.yaml: no Kubernetes objects found",
  );
});

test("aliases that multiply without end are refused", () => {
  const bomb = `a: &a [x, x]\n${"bcdefghijklm"
    .split("")
    .map((name, index) => `${name}: &${name} [*${"abcdefghijkl"[index]}, *${"abcdefghijkl"[index]}]`)
    .join("\n")}`;
  expect(() => parseManifests(bomb, "f.yaml")).toThrow("alias");
});
