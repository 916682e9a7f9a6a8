import { expect, test } from "vitest";

import { Change } from "./change.js";
import { type Interest, ListenerIndex } from "./listener-index.js";
import { StoredObject } from "./stored-object.js";

const stored = (name: string, labels: Record<string, string>, version = 1): StoredObject =>
  new StoredObject({ metadata: { name, namespace: "default", labels } }, version, 0);

function listening(index: ListenerIndex, interest?: Interest): { told: number } {
  const counter = { told: 0 };
  index.add({ interest, onChange: () => counter.told++ });
  return counter;
}

test("a change is told to those it may concern, before or after, and once", () => {
  const index = new ListenerIndex();
  const all = listening(index);
  const named = listening(index, { by: "name", value: "a" });
  const elsewhere = listening(index, { by: "namespace", value: "other" });
  const here = listening(index, { by: "namespace", value: "default" });
  const red = listening(index, { by: "label", key: "colour", value: "red" });
  const green = listening(index, { by: "label", key: "colour", value: "green" });
  const blue = listening(index, { by: "label", key: "colour", value: "blue" });
  const told = (): number[] => [all, named, elsewhere, here, red, green, blue].map((counter) => counter.told);

  index.tell(new Change(1, undefined, stored("a", { colour: "red" })));
  expect(told()).toEqual([1, 1, 0, 1, 1, 0, 0]);
  index.tell(new Change(2, stored("a", { colour: "red" }), stored("a", { colour: "green" })));
  expect(told()).toEqual([2, 2, 0, 2, 2, 1, 0]);
  index.tell(new Change(3, stored("a", { colour: "green" }), undefined));
  expect(told()).toEqual([3, 3, 0, 3, 2, 2, 0]);
  index.tell(new Change(4, stored("b", {}), stored("b", {})));
  expect(told()).toEqual([4, 3, 0, 4, 2, 2, 0]);
});

test("who has left is told nothing", () => {
  const index = new ListenerIndex();
  const left: string[] = [];
  for (const interest of [undefined, { by: "name", value: "a" }, { by: "label", key: "k", value: "v" }] as const) {
    const listener = { interest, onChange: () => left.push("told") };
    index.add(listener);
    index.delete(listener);
  }
  index.tell(new Change(1, undefined, stored("a", { k: "v" })));
  expect(left).toEqual([]);
  expect(index.all()).toEqual([]);
});

test("who comes or leaves between two changes counts from the next one on", () => {
  const index = new ListenerIndex();
  const first = listening(index);
  const tell = (): void => index.tell(new Change(1, undefined, stored("a", {})));
  tell();
  const told: string[] = [];
  const second = { interest: undefined, onChange: () => told.push("second") };
  index.add(second);
  tell();
  index.delete(second);
  tell();
  expect([first.told, told]).toEqual([3, ["second"]]);
});
