import type { Random } from "@kubewright/clock";

/** No vowels, and nothing that is easily mistaken for something else. Upstream: apimachinery `util/rand`. */
const ALPHABET = "bcdfghjklmnpqrstvwxz2456789";
const SUFFIX_LENGTH = 5;
const MAX_BASE_LENGTH = 63 - SUFFIX_LENGTH;

/** `prefix` cut to 58 characters, and five random ones. */
export function generateName(prefix: string, random: Random): string {
  let name = prefix.slice(0, MAX_BASE_LENGTH);
  for (let count = 0; count < SUFFIX_LENGTH; count++) name += ALPHABET[Math.floor(random.next() * ALPHABET.length)]!;
  return name;
}
