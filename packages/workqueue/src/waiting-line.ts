/** So many places at the front may be empty before the others move up. */
const MOST_EMPTY = 32;

/**
 * Who waits, in order. Taking the first does not move all others, as `shift` of an array does: each of the twenty workers
 * of a queue would be moved for each item.
 */
export class WaitingLine<T> {
  readonly #places: (T | undefined)[] = [];
  #first = 0;

  get size(): number {
    return this.#places.length - this.#first;
  }

  push(one: T): void {
    this.#places.push(one);
  }

  /** Only when somebody waits. */
  shift(): T {
    const one = this.#places[this.#first]!;
    this.#places[this.#first++] = undefined;
    if (this.#first === this.#places.length || this.#first > MOST_EMPTY) this.#moveUp();
    return one;
  }

  /** Ignored for who does not wait. */
  remove(one: T): void {
    const place = this.#places.indexOf(one);
    if (place >= 0) this.#places.splice(place, 1);
  }

  #moveUp(): void {
    if (this.#first === this.#places.length) this.#places.length = 0;
    else this.#places.splice(0, this.#first);
    this.#first = 0;
  }
}
