/** Input and output of the command. */
export interface CliIo {
  /** Writes to standard output. */
  print(text: string): void;
  /** Writes to standard error. */
  printError(text: string): void;
  /** @throws The module's error. */
  importModule(file: string): Promise<object>;
  /** Reads a file; `-`: standard input. @throws Error with the reason, without the file's name. */
  readText(file: string): Promise<string>;
  /** Writes a file, and creates its directory if missing. */
  writeFile(file: string, text: string): Promise<void>;
}
