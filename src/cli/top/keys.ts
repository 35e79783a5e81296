// What the keys of `carillon top` do: a small state machine, without a terminal.

export type Key = 'up' | 'down' | 'enter' | 'escape' | 'back' | 'quit' | { readonly letter: string }

export interface Keys {
  readonly mode: 'list' | 'filter' | 'confirm'
  readonly filter: string
  readonly selected: number
}

export type Wish =
  | { readonly kind: 'none' }
  | { readonly kind: 'quit' }
  | { readonly kind: 'act'; readonly verb: 'pause' | 'run' | 'cancel' }
  | { readonly kind: 'ask' }

export const start: Keys = { mode: 'list', filter: '', selected: 0 }

const none: Wish = { kind: 'none' }

export function press(keys: Keys, key: Key, count: number): readonly [Keys, Wish] {
  if (key === 'quit') return [keys, { kind: 'quit' }]
  switch (keys.mode) {
    case 'list':
      return pressList(keys, key, count)
    case 'filter':
      return [pressFilter(keys, key), none]
    case 'confirm': {
      const isYes = typeof key === 'object' && key.letter === 'y'
      const next: Keys = { ...keys, mode: 'list' }
      return [next, isYes ? { kind: 'act', verb: 'cancel' } : none]
    }
  }
}

function pressList(keys: Keys, key: Key, count: number): readonly [Keys, Wish] {
  const last = Math.max(0, count - 1)
  const to = (selected: number): Keys => ({
    ...keys,
    selected: Math.min(last, Math.max(0, selected)),
  })
  if (key === 'up') return [to(keys.selected - 1), none]
  if (key === 'down') return [to(keys.selected + 1), none]
  if (key === 'escape') return [{ ...keys, filter: '' }, none]
  if (typeof key !== 'object') return [keys, none]
  switch (key.letter) {
    case 'q':
      return [keys, { kind: 'quit' }]
    case 'k':
      return [to(keys.selected - 1), none]
    case 'j':
      return [to(keys.selected + 1), none]
    case '/':
      return [{ ...keys, mode: 'filter', filter: '' }, none]
    case 'p':
      return [keys, { kind: 'act', verb: 'pause' }]
    case 'r':
      return [keys, { kind: 'act', verb: 'run' }]
    case 'c':
      return [{ ...keys, mode: 'confirm' }, { kind: 'ask' }]
    default:
      return [keys, none]
  }
}

function pressFilter(keys: Keys, key: Key): Keys {
  if (key === 'enter') return { ...keys, mode: 'list', selected: 0 }
  if (key === 'escape') return { ...keys, mode: 'list', filter: '', selected: 0 }
  if (key === 'back') return { ...keys, filter: keys.filter.slice(0, -1), selected: 0 }
  if (typeof key !== 'object') return keys
  return { ...keys, filter: keys.filter + key.letter, selected: 0 }
}

const ESCAPE = '\u001B'
const parts = new RegExp(`${ESCAPE}\\[([AB])|[\\s\\S]`, 'gu')

/** Keys as a terminal sends them, several at a time when typing is fast. */
export function keysOf(text: string): Key[] {
  const keys: Key[] = []
  for (const found of text.matchAll(parts)) {
    const [whole, arrow] = found
    if (arrow !== undefined) keys.push(arrow === 'A' ? 'up' : 'down')
    else if (whole === ESCAPE) keys.push('escape')
    else if (whole === '\r' || whole === '\n') keys.push('enter')
    else if (whole === '\u007F' || whole === '\b') keys.push('back')
    else if (whole === '\u0003' || whole === '\u0004') keys.push('quit')
    else if (!/\p{Cc}/u.test(whole)) keys.push({ letter: whole })
  }
  return keys
}
