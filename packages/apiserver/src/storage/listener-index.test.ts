import { expect, test } from "vitest";

import { Change } from "./change.js";
import { type Interest, ListenerIndex } from "./listener-index.js";
import { StoredObject } from "./stored-object.js";

const stored = (name: string, labels: Record<string, string>, version = 1): StoredObject =>
  new StoredObject({ metadata: { name, namespace: "default", labels } }, version, 0);

function listening(index: ListenerIndex, interest?: Interest): { notified: number } {
  const counter = { notified: 0 };
  index.add({ interest, onChange: () => counter.notified++ });
  return counter;
}

test("a change notifies each listener whose interest matches before or after it, once", () => {
  const index = new ListenerIndex();
  const all = listening(index);
  const named = listening(index, { by: "name", value: "a" });
  const elsewhere = listening(index, { by: "namespace", value: "other" });
  const here = listening(index, { by: "namespace", value: "default" });
  const red = listening(index, { by: "label", key: "colour", value: "red" });
  const green = listening(index, { by: "label", key: "colour", value: "green" });
  const blue = listening(index, { by: "label", key: "colour", value: "blue" });
  const notified = (): number[] => [all, named, elsewhere, here, red, green, blue].map((counter) => counter.notified);

  index.notify(new Change(1, undefined, stored("a", { colour: "red" })));
  expect(notified()).toEqual([1, 1, 0, 1, 1, 0, 0]);
  index.notify(new Change(2, stored("a", { colour: "red" }), stored("a", { colour: "green" })));
  expect(notified()).toEqual([2, 2, 0, 2, 2, 1, 0]);
  index.notify(new Change(3, stored("a", { colour: "green" }), undefined));
  expect(notified()).toEqual([3, 3, 0, 3, 2, 2, 0]);
  index.notify(new Change(4, stored("b", {}), stored("b", {})));
  expect(notified()).toEqual([4, 3, 0, 4, 2, 2, 0]);
});

test("a removed listener is not notified", () => {
  const index = new ListenerIndex();
  const left: string[] = [];
  for (const interest of [undefined, { by: "name", value: "a" }, { by: "label", key: "k", value: "v" }] as const) {
    const listener = { interest, onChange: () => left.push("told") };
    index.add(listener);
    index.delete(listener);
  }
  index.notify(new Change(1, undefined, stored("a", { k: "v" })));
  expect(left).toEqual([]);
  expect(index.all()).toEqual([]);
});

test("who comes or leaves between two changes counts from the next one on", () => {
  const index = new ListenerIndex();
  const first = listening(index);
  const notify = (): void => index.notify(new Change(1, undefined, stored("a", {})));
  notify();
  const notified: string[] = [];
  const second = { interest: undefined, onChange: () => notified.push("second") };
  index.add(second);
  notify();
  index.delete(second);
  notify();
  expect([first.notified, notified]).toEqual([3, ["second"]]);
});
