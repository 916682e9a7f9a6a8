import { existsSync, readFileSync, readdirSync } from "node:fs";
import path from "node:path";

export const root = path.resolve(import.meta.dirname, "../..");

export interface Block {
  /** Path relative to the root of the checkout. */
  readonly file: string;
  /** File and first line, for messages. */
  readonly name: string;
  readonly language: string;
  readonly text: string;
  /** The prose between the previous block and this one. */
  readonly before: string;
}

const ELSEWHERE = [
  "README.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "deploy/README.md",
  "apps/create-kubewright/template/README.md",
];

/** Returns the hand-written documents, relative to the root of the checkout. */
export function documents(): string[] {
  const readmes = ["packages", "apps"].flatMap((parent) =>
    readdirSync(path.join(root, parent)).map((name) => `${parent}/${name}/README.md`),
  );
  const docs = readdirSync(path.join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`);
  return [...ELSEWHERE, ...readmes.filter((file) => existsSync(path.join(root, file))), ...docs];
}

/** Returns the code blocks of a document in order, except those that the site simulates. */
export function blocksOf(file: string): Block[] {
  const text = readFileSync(path.join(root, file), "utf8");
  const blocks: Block[] = [];
  let from = 0;
  for (const match of text.matchAll(/^```(\w*)(?! play)(.*)\n([\s\S]*?)^```$/gm)) {
    const [whole, language, , code] = match;
    const first = code!.split("\n", 1)[0]!;
    blocks.push({
      file,
      name: `${file}: ${first}`,
      language: language!,
      text: code!,
      before: text.slice(from, match.index),
    });
    from = match.index + whole.length;
  }
  return blocks;
}
