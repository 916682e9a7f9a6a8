import { describe, expect, test } from "vitest";

import { ITEM } from "../../playground/page/editor/json-schema.ts";
import { yamlPosition } from "../../playground/page/editor/yaml-position.ts";

/** Returns the position of the `|`. */
function at(marked: string): ReturnType<typeof yamlPosition> {
  const offset = marked.indexOf("|");
  return yamlPosition(marked.slice(0, offset) + marked.slice(offset + 1), offset);
}

function seen(marked: string): unknown {
  const place = at(marked);
  if (place === undefined) return undefined;
  return `${place.at} ${place.path.map((step) => (step === ITEM ? "[]" : step)).join(".")} "${place.typed}"`;
}

describe("the place of a cursor in YAML that is being written", () => {
  test.each([
    ["at the top", "kind: Job\nsp|", 'key  "sp"'],
    ["on an empty line, by its indentation", "spec:\n  |", 'key spec ""'],
    ["back at the top", "spec:\n  a: 1\n|", 'key  ""'],
    ["after a colon", "spec:\n  concurrencyPolicy: For|", 'value spec.concurrencyPolicy "For"'],
    ["right behind a colon nothing is written yet", "spec:|", undefined],
    ["in a list's item", "spec:\n  containers:\n    - name: a\n      im|", 'key spec.containers.[] "im"'],
    ["in a list that begins in its field's column", "containers:\n- name: a\n  im|", 'key containers.[] "im"'],
    ["after such a list", "a:\n  containers:\n  - name: a\n  re|", 'key a "re"'],
    ["behind a dash", "rules:\n  - |", 'key rules.[] ""'],
    ["in lists in lists", "a:\n  - - b: 1\n      c|", 'key a.[].[] "c"'],
    ["in braces", "metadata: { name: a, la|", 'key metadata "la"'],
    ["in braces, as a value", "spec: { schedule: a, concurrencyPolicy: F| }", 'value spec.concurrencyPolicy "F"'],
    ["in braces over several lines", "spec: {\n  template: {\n    re|", 'key spec.template "re"'],
    ["in brackets", "containers: [{ name: a, i|", 'key containers.[] "i"'],
    ["after braces are closed", "metadata: { name: a }\nsp|", 'key  "sp"'],
    ["with a colon in quotes in braces", `a: { "x: y": 1, z|`, 'key a "z"'],
    ["in a comment", "spec:\n  # con|", undefined],
    ["in a comment behind a value", "spec:\n  a: b # con|", undefined],
    ["in a block of text", "data:\n  text: >\n    spe|c: x", undefined],
    ["after a block of text", "data:\n  text: >-\n    spec: x\n  o|", 'key data "o"'],
    ["with colons in a schedule", 'spec:\n  schedule: "0 * * * *"\n  sus|', 'key spec "sus"'],
  ])("%s", (_, marked, wanted) => {
    expect(seen(marked)).toBe(wanted);
  });

  test("knows the fields that exist above and below, and only the kind of its own document", () => {
    const place = at(
      "kind: ConfigMap\n---\napiVersion: batch/v1\nkind: Job # one\nspec:\n  a: 1\n  |\n  b: 2\n---\nkind: Pod\n",
    )!;
    expect([...place.siblings]).toEqual(["a", "b"]);
    expect(Object.fromEntries(place.top)).toEqual({ apiVersion: "batch/v1", kind: "Job" });
  });

  test("does not take long for a long document", () => {
    const text = "spec:\n" + "  - { name: a, value: b }\n".repeat(20_000);
    expect(yamlPosition(`${text}  `, text.length + 2)?.path).toEqual(["spec"]);
  });
});
