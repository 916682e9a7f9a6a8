/** The bytes are no protobuf. The message is Go's. */
export class ProtobufError extends Error {
  override readonly name = "ProtobufError";
}

/** Reads one protobuf message field by field. Upstream: protobuf's encoding, without groups. */
export class WireReader {
  readonly #bytes: Uint8Array;
  #at = 0;
  /** Number of the field that {@link next} came to. */
  field = 0;
  #wireType = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Goes on to the next field. Answers false at the end. Each field must be read or skipped. */
  next(): boolean {
    if (this.#at >= this.#bytes.length) return false;
    const tag = Number(this.#varint());
    this.field = Math.floor(tag / 8);
    this.#wireType = tag & 7;
    if (this.field === 0) throw new ProtobufError(`proto: illegal tag 0 (wire type ${this.#wireType})`);
    return true;
  }

  get isPacked(): boolean {
    return this.#wireType === 2;
  }

  /** A signed number of up to 64 bits; beyond 2^53 the nearest double. */
  integer(): number {
    this.#expect(0);
    return Number(BigInt.asIntN(64, this.#varint()));
  }

  double(): number {
    this.#expect(1);
    const at = this.#take(8);
    return new DataView(this.#bytes.buffer, this.#bytes.byteOffset + at, 8).getFloat64(0, true);
  }

  /** The bytes of a string, of bytes or of a message; they share memory with the whole. */
  bytes(): Uint8Array {
    this.#expect(2);
    const length = Number(this.#varint());
    const at = this.#take(length);
    return this.#bytes.subarray(at, at + length);
  }

  text(): string {
    return new TextDecoder().decode(this.bytes());
  }

  skip(): void {
    switch (this.#wireType) {
      case 0:
        this.#varint();
        return;
      case 1:
        this.#take(8);
        return;
      case 2:
        this.bytes();
        return;
      case 5:
        this.#take(4);
        return;
      default:
        throw new ProtobufError(`proto: illegal wireType ${this.#wireType}`);
    }
  }

  /** Every number of a packed list. */
  *packed(): Generator<number> {
    const inner = new WireReader(this.bytes());
    while (inner.#at < inner.#bytes.length) yield Number(BigInt.asIntN(64, inner.#varint()));
  }

  #varint(): bigint {
    let low = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.#byte();
      low |= (byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt(low);
    }
    let value = BigInt(low);
    for (let shift = 28n; shift < 70n; shift += 7n) {
      const byte = this.#byte();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw new ProtobufError("proto: integer overflow");
  }

  #byte(): number {
    return this.#bytes[this.#take(1)]!;
  }

  #take(length: number): number {
    const at = this.#at;
    if (at + length > this.#bytes.length) throw new ProtobufError("unexpected EOF");
    this.#at = at + length;
    return at;
  }

  #expect(wireType: number): void {
    if (this.#wireType !== wireType)
      throw new ProtobufError(`proto: wrong wireType = ${this.#wireType} for field ${this.field}`);
  }
}
