/**
 * Chunked bodies, whose length is not known in advance (RFC 9112 section 7.1).
 * @module
 */

export interface Unchunked {
  readonly body: Buffer
  /** Start of the next answer. */
  readonly to: number
}

/** Reads the body that begins there, without trailers; `undefined` if it is incomplete. */
export function readChunks(bytes: Buffer, from: number): Unchunked | undefined {
  const pieces: Buffer[] = []
  for (let at = from; ;) {
    const lineEnd = bytes.indexOf('\r\n', at)
    if (lineEnd < 0) return undefined
    const length = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16)
    // Cut off, with something else behind.
    if (Number.isNaN(length)) return undefined
    const start = lineEnd + 2
    at = start + length + 2
    if (bytes.length < at) return undefined
    if (length === 0) return { body: Buffer.concat(pieces), to: at }
    pieces.push(bytes.subarray(start, start + length))
  }
}
