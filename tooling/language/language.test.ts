import { expect, test } from "vitest";

import { LanguageCheck } from "./language-check.ts";

const check = new LanguageCheck({ withReview: true });

async function findings(file: string, text: string): Promise<string[]> {
  const found = await check.check(file, text);
  return found.map(
    ({ line, column, isError, message }) =>
      `${line}:${column} ${isError ? "error" : "review"} ${message.split(" ")[0]!}`,
  );
}

test("a banned word in a comment is an error, at its place", async () => {
  expect(await findings("a.ts", "const a = 1;\n/** Stops whoever waits. */\nexport const b = a;\n")).toEqual([
    "2:11 error whoever",
  ]);
  expect(await findings("a.ts", "/** Stops the caller. */\nexport const a = 1;\n")).toEqual([]);
});

test("a banned word in a message or in the title of a test is an error", async () => {
  expect(await findings("a.ts", 'throw new Error("nobody watches this bucket");\n')).toEqual(["1:18 error nobody"]);
  expect(await findings("a.test.ts", "test(`the ${name} tells of its end`, () => {});\n")).toEqual([
    "1:19 error tells",
  ]);
  expect(await findings("a.ts", 'throw new Error("no member owns this bucket");\n')).toEqual([]);
});

test("a banned word in Markdown is an error", async () => {
  expect(await findings("a.md", "# Faults\n\nEach happening has a time.\n")).toEqual(["3:6 error happening"]);
  expect(await findings("a.md", "# Faults\n\nEach event has a time.\n")).toEqual([]);
});

test("a word to review is listed, and is no error", async () => {
  expect(await findings("a.ts", "// Plays the plan.\nexport const a = 1;\n")).toEqual(["1:4 review Plays"]);
  expect(await findings("a.ts", "// Runs the plan in the playground.\nexport const a = 1;\n")).toEqual([]);
});

test("quotations, code and names are exempt", async () => {
  expect(await findings("a.ts", '// Upstream\'s `tellAll` logs "nobody is there".\nexport const a = 1;\n')).toEqual([]);
  expect(await findings("a.ts", 'export const user = "nobody";\n')).toEqual([]);
  expect(await findings("a.md", "> Whoever reads it.\n\nUse `tell` here:\n\n```sh\ntell somebody\n```\n")).toEqual([]);
});
