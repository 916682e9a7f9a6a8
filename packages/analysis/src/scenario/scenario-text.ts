import { YamlDocument, YamlError } from "@kubewright/apiserver/yaml";
import { type Path, type ScenarioProblem, pathText } from "@kubewright/simulation";

import { UserError } from "../errors/user-error.js";

/** Maximum number of problems in one error. */
const MAX_PROBLEMS = 20;

/** A parsed scenario file that knows the place of each value. */
export class ScenarioText {
  readonly #file: string;
  readonly #document: YamlDocument;

  /** @throws UserError with file, line and column when it is not one YAML document. */
  constructor(text: string, file: string) {
    this.#file = file;
    this.#document = this.#withUserErrors(() => new YamlDocument(text));
    if (this.#document.hasMore)
      throw new UserError(
        `${file}: holds several documents where one is expected; the manifests of a scenario go into \`manifests\``,
      );
    const repeated = this.#document.repeatedKeys();
    if (repeated.length === 0) return;
    const lines = repeated.map(
      ({ key, line, column }) => `${file}:${line}:${column}: the key ${JSON.stringify(key)} is repeated here`,
    );
    throw new UserError(lines.join("\n"));
  }

  /** Returns the value of the document. @throws UserError for aliases that cannot be resolved. */
  value(): unknown {
    return this.#withUserErrors(() => this.#document.value());
  }

  /**
   * Returns `file:line:column` of a value, or with `atKey` of the field's name. A missing value has the place of its
   * parent.
   */
  place(path: Path, atKey = false): string {
    const { line, column } = this.#document.place(path, { atKey });
    return `${this.#file}:${line}:${column}`;
  }

  #withUserErrors<T>(action: () => T): T {
    try {
      return action();
    } catch (error) {
      if (!(error instanceof YamlError)) throw error;
      throw new UserError(`${this.#file}:${error.line}:${error.column}: not YAML: ${error.message}`, {
        cause: error,
      });
    }
  }

  /** @throws UserError with a line for each problem, in the order of the file. */
  throwProblems(problems: readonly ScenarioProblem[]): never {
    const sorted = problems
      .map((problem) => ({ ...problem, at: this.#document.place(problem.path, { atKey: problem.atKey ?? false }) }))
      .sort((a, b) => a.at.line - b.at.line || a.at.column - b.at.column);
    const lines = new Set(
      sorted.map(({ path, atKey, message }) => {
        const pathPrefix = path.length === 0 ? "" : `${pathText(path)}: `;
        return `${this.place(path, atKey)}: ${pathPrefix}${message}`;
      }),
    );
    const shown = [...lines].slice(0, MAX_PROBLEMS);
    if (lines.size > shown.length) shown.push(`${this.#file}: and ${lines.size - shown.length} more`);
    throw new UserError(shown.join("\n"));
  }
}
