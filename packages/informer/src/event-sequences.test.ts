import { type DeepReadonly, type Pod, keyOf, objectKey } from "@kubewright/api";
import * as fc from "fast-check";
import { afterEach, expect, test } from "vitest";

import { show, startInformer, stopInformers } from "../test/informer-fixture.js";
import { type ScriptedWatch, added, bookmark, deleted, errorEvent, modified, pod } from "../test/scripted-server.js";

afterEach(stopInformers);

const names = ["a", "b", "c", "d"];
const labels = ["x", "y", "z"];
const object = fc.record({ name: fc.constantFrom(...names), labels: fc.uniqueArray(fc.constantFrom(...labels)) });
/** Events in any order, including invalid ones: changes of missing objects and additions of existing ones. */
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ type: fc.constantFrom("ADDED" as const, "MODIFIED" as const, "DELETED" as const), object }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constantFrom("bookmark" as const, "end" as const, "cut" as const, "replay" as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant("list" as const),
      objects: fc.uniqueArray(object, { selector: ({ name }) => name }),
    }),
  },
);

const byLabel = ({ metadata }: DeepReadonly<Pod>): string[] => Object.keys(metadata.labels ?? {});
const send = { ADDED: added, MODIFIED: modified, DELETED: deleted };

test.for([{ watchList: false }, { watchList: true }])(
  "after any sequence of events and lists the store, its indexes and every handler agree with a plain model ($watchList)",
  async ({ watchList }) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        let version = 100;
        const make = ({ name, labels: own }: { name: string; labels: string[] }): Pod =>
          pod(name, `${++version}`, { labels: Object.fromEntries(own.map((label) => [label, ""])) });
        const { server, informer, clock, log } = startInformer({ watchList, indexers: { byLabel } });
        const model = new Map<string, Pod>();
        const expectedLog: string[] = [];
        let initial = " initial";
        const put = (next: Pod, old = model.get(keyOf(next))): void => {
          model.set(keyOf(next), next);
          expectedLog.push(old === undefined ? `add ${show(next)}${initial}` : `update ${show(old)} ${show(next)}`);
        };
        const answerWithList = (objects: readonly Pod[]): ScriptedWatch => {
          const last = `${++version}`;
          let stream: ScriptedWatch;
          if (watchList) stream = server.watch(...objects.map(added), bookmark(last, { initialEventsEnd: true }));
          else {
            server.list(last, objects);
            stream = server.watch();
          }
          const present = new Set(objects.map(keyOf));
          const before = new Map(model);
          model.clear();
          for (const gone of before.values())
            if (!present.has(keyOf(gone))) expectedLog.push(`tombstone ${show(gone)}`);
          for (const next of objects) put(next, before.get(keyOf(next)));
          return stream;
        };

        let watch = answerWithList([]);
        await clock.settle();
        initial = "";
        let old: Pod | undefined;
        for (const one of steps) {
          if (one.type === "list") {
            watch.send(errorEvent(410, "Expired"));
            watch = answerWithList(one.objects.map(make));
            await clock.advance(60_000);
          } else if (one.type === "end" || one.type === "cut") {
            // Two seconds later, because a watch that ends immediately without events counts as a failure.
            await clock.advance(2000);
            watch[one.type]();
            watch = server.watch();
          } else if (one.type === "bookmark") {
            watch.send(bookmark(`${++version}`));
          } else if (one.type === "replay") {
            // The very last event sent twice would count as a resync.
            if (old !== undefined && Number(old.metadata.resourceVersion) < version) watch.send(modified(old));
          } else if ("object" in one) {
            const next = make(one.object);
            watch.send(send[one.type](next));
            if (one.type !== "DELETED") {
              old ??= next;
              put(next);
            } else {
              model.delete(keyOf(next));
              expectedLog.push(`delete ${show(next)}`);
            }
          }
          await clock.settle();
        }
        await clock.settle();

        expect(new Set(informer.store.list())).toEqual(new Set(model.values()));
        for (const name of names) {
          const key = objectKey({ namespace: "default", name });
          expect(informer.store.get(key)).toEqual(model.get(key));
        }
        for (const label of labels) {
          const scanned = [...model.values()].filter((candidate) => byLabel(candidate).includes(label));
          expect(new Set(informer.store.byIndex("byLabel", label))).toEqual(new Set(scanned));
        }
        expect(log).toEqual(expectedLog);
      }),
      { numRuns: 100 },
    );
  },
);
