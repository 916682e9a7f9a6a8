/** Nodes whose kubelets have stopped posting. Stands in for heartbeats, which would fill a year with nothing. */
export class SilentNodes {
  readonly #names = new Set<string>();
  readonly #listeners = new Set<(name: string, silent: boolean) => void>();

  get names(): ReadonlySet<string> {
    return this.#names;
  }

  set(name: string, silent: boolean): void {
    if (this.#names.has(name) === silent) return;
    if (silent) this.#names.add(name);
    else this.#names.delete(name);
    for (const listener of this.#listeners) listener(name, silent);
  }

  /** Answers how to stop listening. */
  listen(listener: (name: string, silent: boolean) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
