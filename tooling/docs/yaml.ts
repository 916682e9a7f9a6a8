/**
 * Checks that the YAML blocks are valid input for their commands. The site's build checks the blocks that it simulates.
 */
import { check } from "@kubewright/analysis/browser";
import { parseAllDocuments } from "yaml";

import type { Block } from "./documents.ts";

export interface YamlResult {
  readonly count: number;
  readonly problems: readonly string[];
}

export async function checkYaml(blocks: readonly Block[]): Promise<YamlResult> {
  const problems: string[] = [];
  const wanted = blocks.filter(({ language }) => language === "yaml");
  for (const { name, text } of wanted) {
    const documentsOf = parseAllDocuments(text);
    const wrong = documentsOf.flatMap(({ errors }) => errors.map(({ message }) => message));
    const kinds = documentsOf.map((each) => `${String(each.get("apiVersion"))} ${String(each.get("kind"))}`);
    const isScenario = kinds.includes("sim.kubewright.dev/v1 Scenario");
    // A scenario refers to the reader's own files.
    if (!isScenario && kinds.some((kind) => kind.startsWith("batch/v1 ")))
      for (const { severity, message } of await check({ manifests: text }))
        // Some blocks show only a part of an object.
        if (severity === "error" && !message.startsWith("Required value")) wrong.push(message);
    problems.push(...wrong.map((message) => `${name}: ${message}`));
  }
  return { count: wanted.length, problems };
}
