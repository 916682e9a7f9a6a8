/** The bytes are not valid protobuf. The message is Go's. */
export class ProtobufError extends Error {
  override readonly name = "ProtobufError";
}

/** Reads a protobuf message field by field. Supports protobuf's wire format without groups. */
export class WireReader {
  readonly #bytes: Uint8Array;
  #at = 0;
  /** Number of the current field. */
  field = 0;
  #wireType = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Moves to the next field. Returns false at the end. The caller must read or skip each field. */
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

  /** Reads a signed number of up to 64 bits; beyond 2^53 returns the nearest double. */
  integer(): number {
    this.#expect(0);
    return Number(BigInt.asIntN(64, this.#varint()));
  }

  double(): number {
    this.#expect(1);
    const at = this.#take(8);
    return new DataView(this.#bytes.buffer, this.#bytes.byteOffset + at, 8).getFloat64(0, true);
  }

  /** Reads the bytes of a string, bytes or message field. They share memory with the input. */
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

  /** Yields the numbers of a packed list. */
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
