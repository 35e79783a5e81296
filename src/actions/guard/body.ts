// Reads an answer's body up to a limit, counted after decompression.

import type { Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { OutboundError } from './errors.ts'

export interface BodyLimit {
  readonly bytesMax: number
  /** Whether a longer body is an error, or cut at the limit. */
  readonly overflow: 'fail' | 'cut'
}

export interface Body {
  readonly bytes: Buffer
  readonly isCut: boolean
}

export async function readBody(
  stream: Readable,
  encoding: string | undefined,
  { bytesMax, overflow }: BodyLimit,
): Promise<Body> {
  const source = decoded(stream, encoding)
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of source as AsyncIterable<Buffer>) {
      const room = bytesMax - size
      if (chunk.length > room) {
        if (overflow === 'fail') {
          throw new OutboundError('too-large', `the answer has more than ${bytesMax} bytes`)
        }
        chunks.push(chunk.subarray(0, room))
        return { bytes: Buffer.concat(chunks), isCut: true }
      }
      chunks.push(chunk)
      size += chunk.length
    }
    return { bytes: Buffer.concat(chunks), isCut: false }
  } finally {
    source.destroy()
    stream.destroy()
  }
}

/** One encoding at most: layers of them only serve to hide what is inside. */
function decoded(stream: Readable, encoding = ''): Readable {
  const decoder = decoderOf(encoding.trim().toLowerCase())
  if (decoder === null) return stream
  stream.on('error', error => decoder.destroy(error))
  stream.pipe(decoder)
  return decoder
}

function decoderOf(encoding: string) {
  switch (encoding) {
    case '':
    case 'identity':
      return null
    case 'gzip':
    case 'x-gzip':
      return createGunzip()
    case 'deflate':
      return createInflate()
    case 'br':
      return createBrotliDecompress()
    default:
      throw new OutboundError('protocol', 'the answer has an encoding that was not asked for')
  }
}
