/**
 * Nodes whose kubelets have stopped posting status. Replaces heartbeats, which would be most requests of a simulated
 * year.
 */
export class UnreachableNodes {
  readonly #names = new Set<string>();
  readonly #listeners = new Set<(name: string, unreachable: boolean) => void>();

  get names(): ReadonlySet<string> {
    return this.#names;
  }

  set(name: string, unreachable: boolean): void {
    if (this.#names.has(name) === unreachable) return;
    if (unreachable) this.#names.add(name);
    else this.#names.delete(name);
    for (const listener of this.#listeners) listener(name, unreachable);
  }

  /** Returns the function that removes the listener. */
  listen(listener: (name: string, silent: boolean) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
