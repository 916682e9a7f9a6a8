/** Counts the cost of an evaluation against a limit. */
export class CostBudget {
  #spent = 0;

  constructor(readonly limit: number) {}

  get spent(): number {
    return this.#spent;
  }

  /**
   * Adds a cost.
   *
   * @throws CostExceeded when the total exceeds the limit
   */
  spend(cost: number): void {
    this.#spent += cost;
    if (this.#spent > this.limit) throw new CostExceeded("operation cancelled: actual cost limit exceeded");
  }
}

export class CostExceeded extends Error {}
