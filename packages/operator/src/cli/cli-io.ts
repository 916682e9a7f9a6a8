/** Input and output of the command. */
export interface CliIo {
  /** Writes to standard output. */
  print(text: string): void;
  /** Writes to standard error. */
  printError(text: string): void;
  /** @throws The module's error. */
  importModule(file: string): Promise<object>;
  /**
   * Writes a file, and creates its directory if missing.
   *
   * @returns The file's path.
   */
  writeFile(folder: string, name: string, text: string): Promise<string>;
}
