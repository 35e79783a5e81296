// Text as databases may hold it. They order by UTF-8 bytes, end texts at NUL or refuse it, and lose
// lone surrogates; JavaScript orders by code units and holds anything. Keys make both agree.

// NUL and U+0001 become pairs, code units from U+D800 on one character each above U+FFFF: the
// order stays, and texts without such characters stay as they are.
const FIRST_HIGH = 0xd800
const HIGH_BASE = 0x10000

export function toKey(text: string): string {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 2 || code >= FIRST_HIGH) return encoded(text)
  }
  return text
}

export function fromKey(key: string): string {
  for (let i = 0; i < key.length; i++) {
    const code = key.charCodeAt(i)
    if (code < 2 || code >= FIRST_HIGH) return decoded(key)
  }
  return key
}

export function toKeyOrNull(text: string | null): string | null {
  return text === null ? null : toKey(text)
}

export function fromKeyOrNull(key: string | null): string | null {
  return key === null ? null : fromKey(key)
}

function encoded(text: string): string {
  let key = ''
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 2) key += String.fromCharCode(1, code + 1)
    else if (code >= FIRST_HIGH) key += String.fromCodePoint(HIGH_BASE + code - FIRST_HIGH)
    else key += text[i]!
  }
  return key
}

function decoded(key: string): string {
  let text = ''
  let isPair = false
  for (const char of key) {
    const code = char.codePointAt(0)!
    if (isPair) {
      text += String.fromCharCode(code - 1)
      isPair = false
    } else if (code === 1) isPair = true
    else text += code >= HIGH_BASE ? String.fromCharCode(code - HIGH_BASE + FIRST_HIGH) : char
  }
  return text
}
