// The keyboard: single letters and `g` with a letter, told once here and listed in the help. Letters
// are heard only outside of fields and dialogs, and can be turned off.

import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { now } from '../clock.ts'
import { hasLetterKeys } from '../view.ts'

export interface KeyAction {
  readonly label: string
  readonly act: () => void
}

/** By key: `r`, `/`, or `g j` for two in a row. */
export type KeyMap = Readonly<Record<string, KeyAction>>

const SEQUENCE_MS = 1_500
const maps = signal<readonly { readonly current: KeyMap }[]>([])

/** The newest map wins: a page may take a key that the frame has too. */
export function useKeys(map: KeyMap): void {
  const latest = useRef(map)
  latest.current = map
  useEffect(() => {
    maps.value = [...maps.value, latest]
    return () => {
      maps.value = maps.value.filter(one => one !== latest)
    }
  }, [])
}

export function knownKeys(): readonly (readonly [key: string, label: string])[] {
  const all = Object.assign({}, ...maps.value.map(({ current }) => current)) as KeyMap
  return Object.entries(all).map(([key, { label }]) => [key, label] as const)
}

let prefix: { readonly key: string; readonly at: number } | null = null

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName))
  )
}

function find(key: string): KeyAction | null {
  const found = maps.value.toReversed().find(({ current }) => Object.hasOwn(current, key))
  return found ? found.current[key]! : null
}

export function listenToKeys(openPalette: () => void): () => void {
  const keyed = (event: KeyboardEvent) => {
    if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k') {
      event.preventDefault()
      openPalette()
      return
    }
    const isBusy = isTyping(event.target) || document.querySelector('dialog[open]') !== null
    if (isBusy || event.metaKey || event.ctrlKey || event.altKey || !hasLetterKeys.value) return
    const isFollowing = prefix !== null && now() - prefix.at < SEQUENCE_MS
    const whole = isFollowing ? `${prefix!.key} ${event.key}` : event.key
    prefix = !isFollowing && event.key === 'g' ? { key: 'g', at: now() } : null
    const action = find(whole)
    if (action === null) return
    event.preventDefault()
    action.act()
  }
  addEventListener('keydown', keyed)
  return () => removeEventListener('keydown', keyed)
}
