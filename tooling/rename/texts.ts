/**
 * Replaces the texts of a map: inside string literals of TypeScript sources, and in documents and data that quote them.
 *
 *     node texts.ts [--root DIR] MAP…
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

import ts from "typescript";

import { type TextRule, readRenameMap } from "./rename-map.ts";

const args = process.argv.slice(2);
const rootAt = args.indexOf("--root");
const root = path.resolve(rootAt === -1 ? path.join(import.meta.dirname, "../..") : args.splice(rootAt, 2)[1]!);
const { texts } = readRenameMap(args);
const rules = texts.toSorted((a, b) => b.from.length - a.from.length);
const used = new Set<TextRule>();
const EXCLUDED =
  /^(conformance\/(api|cron|golden)\/|conformance\/[^/]*\.mjs$|tooling\/rename\/|package-lock\.json|packages\/cluster\/test\/golden|\.changeset\/)/;
/** Shorter texts are replaced in TypeScript only: in prose they may be something else. */
const QUOTED_FROM = 12;

const tracked = execFileSync("git", ["ls-files"], { cwd: root, encoding: "utf8" }).trim().split("\n");
for (const file of tracked) {
  if (EXCLUDED.test(file)) continue;
  const at = path.join(root, file);
  if (/\.(ts|mjs)$/.test(file)) change(at, inLiterals);
  else if (/\.(md|json|ya?ml|vue|txt)$/.test(file))
    change(at, (text) =>
      replaceAll(
        text,
        rules.filter(({ from }) => from.length >= QUOTED_FROM),
      ),
    );
}
for (const rule of texts) if (!used.has(rule)) console.log(`NOT FOUND: ${rule.from}`);

function change(at: string, edit: (text: string, at: string) => string): void {
  const text = readFileSync(at, "utf8");
  const next = edit(text, at);
  if (next !== text) writeFileSync(at, next);
}

function inLiterals(text: string, at: string): string {
  if (!rules.some(({ from }) => text.includes(from))) return text;
  const file = ts.createSourceFile(at, text, ts.ScriptTarget.Latest, true);
  const pieces: { start: number; end: number }[] = [];
  (function visit(node: ts.Node): void {
    // Names of forks seed random draws: another name draws other plans.
    if (
      ts.isCallExpression(node) &&
      ts.isPropertyAccessExpression(node.expression) &&
      /^(fork|toss)$/.test(node.expression.name.text)
    ) {
      visit(node.expression);
      return;
    }
    if (ts.isStringLiteral(node) && !ts.isImportDeclaration(node.parent) && !ts.isExportDeclaration(node.parent))
      pieces.push({ start: node.getStart(file), end: node.end });
    else if (
      ts.isNoSubstitutionTemplateLiteral(node) ||
      ts.isTemplateHead(node) ||
      ts.isTemplateMiddle(node) ||
      ts.isTemplateTail(node) ||
      ts.isRegularExpressionLiteral(node)
    )
      pieces.push({ start: node.getStart(file), end: node.end });
    // A text with `${…}` spans a whole template.
    else if (
      ts.isTemplateExpression(node) &&
      rules.some(({ from }) => from.includes("${") && text.slice(node.getStart(file), node.end).includes(from))
    ) {
      pieces.push({ start: node.getStart(file), end: node.end });
      return;
    }
    ts.forEachChild(node, visit);
  })(file);
  let out = "";
  let position = 0;
  for (const { start, end } of pieces.toSorted((a, b) => a.start - b.start)) {
    if (start < position) continue;
    out += text.slice(position, start) + replaceAll(text.slice(start, end), rules);
    position = end;
  }
  return out + text.slice(position);
}

function replaceAll(text: string, list: readonly TextRule[]): string {
  let out = text;
  for (const rule of list) {
    if (!out.includes(rule.from)) continue;
    used.add(rule);
    out = out.replaceAll(rule.from, rule.to);
  }
  return out;
}
