/** What an evaluation may still cost, and what it has. */
export class CostBudget {
  #spent = 0;

  constructor(readonly limit: number) {}

  get spent(): number {
    return this.#spent;
  }

  /** @throws CostExceeded */
  spend(cost: number): void {
    this.#spent += cost;
    if (this.#spent > this.limit) throw new CostExceeded("operation cancelled: actual cost limit exceeded");
  }
}

export class CostExceeded extends Error {}
