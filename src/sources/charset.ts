// The text of an answer: its own mark first, then the charset it names, then UTF-8.

import { TextDecoder } from 'node:util'
import type { Steps } from '../actions/slices.ts'

const NAME_MAX = 60

export type Decoded =
  | { readonly text: string; readonly hasUnreadable: boolean; readonly unknown?: undefined }
  /** A charset this machine cannot read. */
  | { readonly unknown: string }

/** Bytes decoded between two steps: some charsets take 10 ms for a megabyte. */
const BYTES_PER_STEP = 256 * 1024

export function* decodeAnswer(body: Buffer, contentType = ''): Steps<Decoded> {
  const label = markOf(body) ?? /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(contentType)?.[1] ?? 'utf-8'
  const decoder = decoderFor(label)
  if (decoder === null) return { unknown: label.slice(0, NAME_MAX) }
  let text = ''
  for (let at = 0; at < body.length; at += BYTES_PER_STEP) {
    if (at > 0) yield
    text += decoder.decode(body.subarray(at, at + BYTES_PER_STEP), { stream: true })
  }
  text += decoder.decode()
  return { text, hasUnreadable: text.includes('\uFFFD') }
}

/** The byte order mark says more than any header (WHATWG Encoding). */
function markOf(body: Buffer): string | null {
  const [first, second, third] = body
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  return first === 0xef && second === 0xbb && third === 0xbf ? 'utf-8' : null
}

/** Leaves the mark out of the text. */
function decoderFor(label: string): TextDecoder | null {
  try {
    return new TextDecoder(label)
  } catch {
    return null
  }
}
