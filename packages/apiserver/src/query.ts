import { parseQuery } from "@kubewright/transport";

import { badRequest } from "./api-error.js";

/** Query parameters of a URL. */
export class Query {
  readonly #parameters: URLSearchParams | undefined;

  constructor(text: string) {
    this.#parameters = text === "" ? undefined : parseQuery(text);
  }

  get isEmpty(): boolean {
    return this.#parameters === undefined;
  }

  get(name: string): string | undefined {
    return this.#parameters?.get(name) ?? undefined;
  }

  getAll(name: string): string[] {
    return this.#parameters?.getAll(name) ?? [];
  }

  has(name: string): boolean {
    return this.#parameters?.has(name) ?? false;
  }

  /** Returns false when absent, `0` or `false`; true for any other value, including an empty one. */
  flag(name: string): boolean {
    const value = this.get(name);
    return value !== undefined && value !== "0" && value.toLowerCase() !== "false";
  }

  /** @throws ApiError 400 when the value is not an integer. */
  integer(name: string): number | undefined {
    const value = this.get(name);
    if (value === undefined || value === "") return undefined;
    if (!/^[+-]?\d+$/.test(value))
      throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(value)}: invalid syntax`);
    return Number(value);
  }
}

export const NO_PARAMETERS = new Query("");
