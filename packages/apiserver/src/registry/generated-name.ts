import type { Random } from "@kubewright/clock";

/** Without vowels and easily confused characters. Upstream: apimachinery `util/rand`. */
const ALPHABET = "bcdfghjklmnpqrstvwxz2456789";
const SUFFIX_LENGTH = 5;
const MAX_BASE_LENGTH = 63 - SUFFIX_LENGTH;

/** Returns the prefix, cut to 58 characters, with five random characters. */
export function generateName(prefix: string, random: Random): string {
  let name = prefix.slice(0, MAX_BASE_LENGTH);
  for (let count = 0; count < SUFFIX_LENGTH; count++) name += ALPHABET[Math.floor(random.next() * ALPHABET.length)]!;
  return name;
}
