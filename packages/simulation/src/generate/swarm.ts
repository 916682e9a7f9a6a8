import type { Draw } from "./draw.js";
import type { Shape } from "./shape.js";

/** Which shapes, or which kinds of fault, a plan has at all. */
export class Swarm<Feature extends string = Shape> {
  readonly #features: ReadonlySet<Feature>;

  constructor(features: readonly Feature[]) {
    this.#features = new Set(features);
  }

  /**
   * A coin for each feature (Groce and others, "Swarm Testing", ISSTA 2012): what is in every plan keeps what is rare from
   * coming up.
   */
  static toss<Feature extends string>(
    draw: Draw,
    features: readonly Feature[],
    share: (feature: Feature) => number,
  ): Swarm<Feature> {
    return new Swarm(features.filter((feature) => draw.fork(feature).chance(share(feature))));
  }

  has(feature: Feature): boolean {
    return this.#features.has(feature);
  }

  with(others: readonly Feature[]): Swarm<Feature> {
    return new Swarm([...this.#features, ...others]);
  }

  without(others: readonly Feature[]): Swarm<Feature> {
    return new Swarm([...this.#features].filter((feature) => !others.includes(feature)));
  }
}
