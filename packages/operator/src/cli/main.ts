import { readFileSync } from "node:fs";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import process from "node:process";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";

import type { CliIo } from "./cli-io.js";
import { runCli } from "./cli.js";

// A reader that closes the pipe (`… | head`) ends the output without an error of the command.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));

const io: CliIo = {
  print: (text) => void process.stdout.write(text),
  printError: (text) => void process.stderr.write(text),
  importModule: async (file) => {
    const found = await stat(file).catch(() => undefined);
    if (found?.isFile() !== true) throw new Error("there is no such file");
    return (await import(pathToFileURL(path.resolve(file)).href)) as object;
  },
  readText: async (file) => {
    if (file === "-") return text(process.stdin);
    const found = await stat(file).catch(() => undefined);
    if (found?.isFile() !== true) throw new Error("there is no such file");
    return readFile(file, "utf8");
  },
  writeFile: async (file, content) => {
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, content);
  },
};
const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
  version: string;
};
const status = await runCli(process.argv.slice(2), io, version);
// Exit explicitly: modules may keep handles open, such as connections.
process.stdout.write("", () => process.exit(status));
