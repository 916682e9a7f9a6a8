import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import path from "node:path";

import { TextlintKernel, type TextlintKernelPlugin, type TextlintKernelRule } from "@textlint/kernel";

import { parse } from "yaml";

import { SourceProcessor } from "./source-processor.ts";

/** Both are CommonJS with a member `default`; the rule has no types. */
const require = createRequire(import.meta.url);
const { default: prh } = require("textlint-rule-prh") as { default: TextlintKernelRule["rule"] };
const { default: markdown } = require("@textlint/textlint-plugin-markdown") as {
  default: TextlintKernelPlugin["plugin"];
};

/** A word of a list. `isError` is false for those to review. */
export interface Finding {
  readonly line: number;
  readonly column: number;
  readonly isError: boolean;
  readonly message: string;
}

/** The word lists, applied by textlint's kernel and its rule for prh dictionaries. */
export class LanguageCheck {
  readonly #kernel = new TextlintKernel();
  readonly #rules: TextlintKernelRule[];
  /** Any pattern of the lists. Only files that match are parsed: all others cannot have a finding. */
  readonly #anyPattern: RegExp;
  readonly #plugins: TextlintKernelPlugin[] = [
    { pluginId: "source", plugin: { Processor: SourceProcessor } },
    { pluginId: "markdown", plugin: markdown },
  ];

  /** @throws when a pattern of a list does not do what its specs say. */
  constructor({ withReview = false }: { readonly withReview?: boolean } = {}) {
    const lists = (withReview ? ["banned", "review"] : ["banned"]).map((list) => ({
      list,
      file: path.join(import.meta.dirname, `${list}.yml`),
    }));
    this.#rules = lists.map(({ list, file }) => ({ ruleId: list, rule: prh, options: { rulePaths: [file] } }));
    const patterns = lists.flatMap(({ file }) => {
      const { rules } = parse(readFileSync(file, "utf8")) as {
        readonly rules: readonly { readonly pattern: string }[];
      };
      return rules.map(({ pattern }) => pattern.replace(/^\//, "").replace(/\/i$/, ""));
    });
    this.#anyPattern = new RegExp(patterns.join("|"), "i");
  }

  /** Whether the text has a listed word anywhere, quotations included. */
  mentionsListedWord(text: string): boolean {
    return this.#anyPattern.test(text);
  }

  async check(file: string, text: string): Promise<readonly Finding[]> {
    if (!this.mentionsListedWord(text)) return [];
    const { messages } = await this.#kernel.lintText(text, {
      filePath: file,
      ext: path.extname(file),
      plugins: this.#plugins,
      rules: this.#rules,
    });
    return messages.map(({ loc, ruleId, message }) => ({
      line: loc.start.line,
      column: loc.start.column,
      isError: ruleId === "banned",
      message: message.replaceAll(/\s+/g, " ").trim(),
    }));
  }
}
