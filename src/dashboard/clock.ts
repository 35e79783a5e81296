// The one place of the dashboard that reads the browser's clock, sets timers and draws keys. Moments
// follow the service's clock: a laptop that is minutes off still shows right countdowns.

import { signal } from '@preact/signals'

let offsetMs = 0

/** What the service's clock said just now. */
export function learnTime(serverMs: number): void {
  offsetMs = serverMs - Date.now()
}

export function now(): number {
  return Date.now() + offsetMs
}

/** The present second; whoever reads it is drawn again as it passes. */
export const second = signal(now())

setInterval(() => {
  if (document.visibilityState === 'visible') second.value = now()
}, 1_000)

export function after(ms: number, act: () => void): () => void {
  const timer = setTimeout(act, ms)
  return () => clearTimeout(timer)
}

export function every(ms: number, act: () => void): () => void {
  const timer = setInterval(act, ms)
  return () => clearInterval(timer)
}

export function freshKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')
}
