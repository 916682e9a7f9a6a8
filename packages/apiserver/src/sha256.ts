/**
 * Returns the SHA-256 of a short message. Implemented here, so that it is synchronous and works without node:crypto.
 */
export function sha256(message: Uint8Array): Uint8Array {
  const state = new Uint32Array(constants.initial);
  const padded = pad(message);
  const schedule = new Uint32Array(64);
  for (let offset = 0; offset < padded.byteLength; offset += 64)
    compress(state, new DataView(padded.buffer, offset, 64), schedule, constants.rounds);
  const digest = new DataView(new ArrayBuffer(32));
  state.forEach((word, index) => digest.setUint32(index * 4, word));
  return new Uint8Array(digest.buffer);
}

const BLOCK_BYTES = 64;

/** HMAC-SHA-256 (RFC 2104). */
export function hmacSha256(secret: Uint8Array, message: Uint8Array): Uint8Array {
  const key = new Uint8Array(BLOCK_BYTES);
  key.set(secret.byteLength > BLOCK_BYTES ? sha256(secret) : secret);
  const around = (byte: number, content: Uint8Array): Uint8Array => {
    const keyed = new Uint8Array(BLOCK_BYTES + content.byteLength);
    key.forEach((bits, index) => (keyed[index] = bits ^ byte));
    keyed.set(content, BLOCK_BYTES);
    return sha256(keyed);
  };
  return around(0x5c, around(0x36, message));
}

/** Compares two secrets in constant time. */
export function isSameSecret(a: Uint8Array, b: Uint8Array): boolean {
  if (a.byteLength !== b.byteLength) return false;
  let difference = 0;
  for (let index = 0; index < a.byteLength; index++) difference |= a[index]! ^ b[index]!;
  return difference === 0;
}

function pad(message: Uint8Array): Uint8Array<ArrayBuffer> {
  const padded = new Uint8Array(Math.ceil((message.byteLength + 9) / 64) * 64);
  padded.set(message);
  padded[message.byteLength] = 0x80;
  new DataView(padded.buffer).setUint32(padded.byteLength - 4, message.byteLength * 8);
  return padded;
}

function compress(state: Uint32Array, block: DataView, schedule: Uint32Array, rounds: Uint32Array): void {
  for (let index = 0; index < 16; index++) schedule[index] = block.getUint32(index * 4);
  for (let index = 16; index < 64; index++) {
    const early = schedule[index - 15]!;
    const late = schedule[index - 2]!;
    const small0 = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3);
    const small1 = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10);
    schedule[index] = schedule[index - 16]! + small0 + schedule[index - 7]! + small1;
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number];
  for (let index = 0; index < 64; index++) {
    const big1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const first = (h + big1 + ((e & f) ^ (~e & g)) + rounds[index]! + schedule[index]!) | 0;
    const big0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const second = (big0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, index) => (state[index] = state[index]! + word));
}

function rotate(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}

/** Computes the constants: the fractions of the square and cube roots of the first primes. */
function roundConstants(): { initial: number[]; rounds: Uint32Array } {
  const primes: number[] = [];
  for (let candidate = 2; primes.length < 64; candidate++)
    if (primes.every((prime) => candidate % prime !== 0)) primes.push(candidate);
  const fraction = (root: number): number => Math.floor((root - Math.floor(root)) * 2 ** 32);
  return {
    initial: primes.slice(0, 8).map((prime) => fraction(Math.sqrt(prime))),
    rounds: Uint32Array.from(primes, (prime) => fraction(Math.cbrt(prime))),
  };
}

const constants = roundConstants();
