import type { DeepReadonly, List, Pod } from "@kubewright/api";
import { expect, test } from "vitest";

import { type PageQuery, listPages } from "./list-pages.js";

/** Returns a server whose pages lead from token to token, and its number of requests. */
function server(next: (asked: number, query: PageQuery) => string) {
  const seen = { requests: 0 };
  const listPage = async (query: PageQuery): Promise<List<DeepReadonly<Pod>>> => ({
    metadata: { resourceVersion: "1", continue: next(++seen.requests, query) },
    items: [],
  });
  return { seen, listed: listPages<Pod>(listPage, { limit: 500 }) };
}

test.each([1, 2, 7])(
  "a list whose pages go round in a circle of %i fails, at the first that comes again",
  async (length) => {
    const { seen, listed } = server((asked) => `token-${asked % length}`);
    await expect(listed).rejects.toThrow("the list has no end: a continue token came again");
    expect(seen.requests).toBe(length + 1);
  },
);

test("a list of ever new pages fails after ten thousand", async () => {
  const { seen, listed } = server(String);
  await expect(listed).rejects.toThrow("the list has more than 10000 pages");
  expect(seen.requests).toBe(10_000);
});
