import { firstFew } from "./first-few.js";
import { type Manifest, identityOf } from "./manifest.js";
import { shellWord } from "./paths.js";
import type { ReadSource } from "./source-reader.js";

/** Folders for production, which count where overlays define the same object. */
const PRODUCTION = /(^|[/_.-])(prod|prd|production|live)([/_.-]|$)/i;

/** The manifests of all sources, each object once. */
export class MergedManifests {
  readonly #manifests = new Map<string, { readonly manifest: Manifest; readonly from: ReadSource }>();
  readonly #repeated: string[] = [];
  /** Numbers of objects by the folder that is left out and the one that counts. */
  readonly #alternatives = new Map<string, { readonly left: string; readonly used: string; objects: number }>();

  get manifests(): readonly Manifest[] {
    return [...this.#manifests.values()].map(({ manifest }) => manifest);
  }

  get notes(): readonly string[] {
    const alternatives = [...this.#alternatives.values()].map(
      ({ left, used, objects }) =>
        `${left}: ${objects === 1 ? "1 object is" : `${objects} objects are`} also in ${used}, which counts; run this one with kubewright run ${shellWord(left)}`,
    );
    return [
      ...firstFew(alternatives, "more folders with objects that are elsewhere too"),
      ...firstFew(this.#repeated, "more objects are defined twice"),
    ];
  }

  add(from: ReadSource, manifests: readonly Manifest[]): void {
    for (const manifest of manifests) {
      const { object, source: place } = manifest;
      const identity = object.metadata.name === undefined ? `at ${place}` : identityOf(object);
      const earlier = this.#manifests.get(identity);
      if (earlier === undefined) {
        this.#manifests.set(identity, { manifest, from });
        continue;
      }
      if (isRendered(earlier.from) && isRendered(from) && earlier.from !== from) {
        const earlierCounts = PRODUCTION.test(nameOf(earlier.from)) && !PRODUCTION.test(nameOf(from));
        if (earlierCounts) this.#noteAlternative(from, earlier.from);
        else {
          this.#noteAlternative(earlier.from, from);
          this.#manifests.set(identity, { manifest, from });
        }
        continue;
      }
      if (earlier.manifest.source !== place)
        this.#repeated.push(
          `${place}: ${identity} is also defined at ${earlier.manifest.source}; the later definition is used, as with kubectl apply`,
        );
      this.#manifests.set(identity, { manifest, from });
    }
  }

  #noteAlternative(left: ReadSource, used: ReadSource): void {
    const key = JSON.stringify([nameOf(left), nameOf(used)]);
    const known = this.#alternatives.get(key);
    if (known !== undefined) known.objects++;
    else this.#alternatives.set(key, { left: nameOf(left), used: nameOf(used), objects: 1 });
  }
}

function isRendered({ source }: ReadSource): boolean {
  return source.type === "kustomization" || source.type === "chart";
}

function nameOf({ source, label }: ReadSource): string {
  return source.type === "kustomization" || source.type === "chart" ? source.folder : label;
}
