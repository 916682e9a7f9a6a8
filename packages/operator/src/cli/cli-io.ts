/** What the command does to the world. */
export interface CliIo {
  /** To standard output. */
  print(text: string): void;
  /** To standard error. */
  printError(text: string): void;
  /** @throws whatever the module does. */
  importModule(file: string): Promise<object>;
  /** Makes the folder, if need be. @returns The file's path. */
  writeFile(folder: string, name: string, text: string): Promise<string>;
}
