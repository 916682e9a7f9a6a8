import type { Draw } from "./draw.js";
import type { Shape } from "./shape.js";

/** The shapes, or the kinds of fault, that a plan has. */
export class Swarm<Feature extends string = Shape> {
  readonly #features: ReadonlySet<Feature>;
  /** Features that the plan is built around. */
  readonly #sought: ReadonlySet<Feature>;

  constructor(features: readonly Feature[], sought: readonly Feature[] = []) {
    this.#features = new Set([...features, ...sought]);
    this.#sought = new Set(sought);
  }

  /**
   * Tosses a coin for each feature (Groce and others, "Swarm Testing", ISSTA 2012): a feature that is in every plan
   * hides rare effects of others.
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

  /** Returns the probability with which each object has the feature: a high one, where the plan is built around it. */
  chanceOf(feature: Feature, share: number): number {
    if (!this.has(feature)) return 0;
    return this.#sought.has(feature) ? Math.max(share, SOUGHT) : share;
  }

  /** Adds features that the plan is built around. */
  with(others: readonly Feature[]): Swarm<Feature> {
    return new Swarm([...this.#features], [...this.#sought, ...others]);
  }

  without(others: readonly Feature[]): Swarm<Feature> {
    const isLeft = (feature: Feature): boolean => !others.includes(feature);
    return new Swarm([...this.#features].filter(isLeft), [...this.#sought].filter(isLeft));
  }
}

const SOUGHT = 0.85;
