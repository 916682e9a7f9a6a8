import { expect, test } from "vitest";

import { parseQuery, parseRequestUrl, unescapePath } from "./request-url.js";

test.each([
  ["/api/v1/pods", "/api/v1/pods", ""],
  ["/api/v1/pods?watch&x=%zz?y", "/api/v1/pods", "watch&x=%zz?y"],
  ["/a%2Fb%2fc", "/a/b/c", ""],
  ["/a%20b+c", "/a b+c", ""],
  ["/%C3%BC/%00/%25", "/ü/\0/%", ""],
  ["/%ff%C3%BC+ü", "/\uFFFDü+ü", ""],
  ["/%EF%BB%BFa%FF", "/\uFEFFa\uFFFD", ""],
  ["//a//../.?", "//a//../.", ""],
  ["http://proxy:80/a?b", "/a", "b"],
])("%s asks for the path %s with the query %s", (text, path, query) => {
  expect(parseRequestUrl(text)).toEqual({ path, query });
});

test.each(["/%zz", "/a%", "/a%2", "/a%2g%ff", "/%%41", "/a\nb", "/a?b\u007f", "/\0", "", "a", "*", "?a", "a:80"])(
  "%j is the path of nothing",
  (text) => {
    expect(parseRequestUrl(text)).toBeUndefined();
  },
);

test.each([
  ["", []],
  ["&&", []],
  ["watch", [["watch", ""]]],
  ["?watch", [["?watch", ""]]],
  [
    "a=1&b=2&a=3=",
    [
      ["a", "1"],
      ["b", "2"],
      ["a", "3="],
    ],
  ],
  [
    "=x&a+b=%2B+%20",
    [
      ["", "x"],
      ["a b", "+  "],
    ],
  ],
  ["a=%zz&%zz=1&b=%&c=1", [["c", "1"]]],
  ["a=1;b=2&c=3&d;e", [["c", "3"]]],
  [
    "a=%ff&b=%00",
    [
      ["a", "\uFFFD"],
      ["b", "\0"],
    ],
  ],
])("the query %s has the parameters %j", (query, parameters) => {
  expect([...parseQuery(query)]).toEqual(parameters);
});

test("of more than 10,000 parameters none counts", () => {
  const of = (count: number): string => Array.from({ length: count }, (_, index) => `p${index}`).join("&");
  expect(parseQuery(of(10_000)).size).toBe(10_000);
  expect(parseQuery(of(10_001)).size).toBe(0);
});

test("a part of a path is unescaped by the same rule", () => {
  expect(unescapePath("acme.com%2Fproject")).toBe("acme.com/project");
  expect(unescapePath("acme%")).toBeUndefined();
});
