// How things are shown, chosen by the person at the screen: theme, zone, single-letter keys. Only
// such choices are kept in the browser; never data, never tokens.

import { effect, signal } from '@preact/signals'

export type Theme = 'system' | 'dark' | 'light'
export type ZoneChoice = 'local' | 'job' | 'utc'

function kept(name: string): string | null {
  try {
    return localStorage.getItem(`carillon:${name}`)
  } catch {
    return null
  }
}

function keep(name: string, value: string): void {
  try {
    localStorage.setItem(`carillon:${name}`, value)
  } catch {
    // A browser that keeps nothing shows the defaults next time.
  }
}

const themes: readonly Theme[] = ['system', 'dark', 'light']
const zones: readonly ZoneChoice[] = ['local', 'job', 'utc']
const oneOf = <T extends string>(all: readonly T[], value: string | null): T =>
  all.find(one => one === value) ?? all[0]!

export const theme = signal<Theme>(oneOf(themes, kept('theme')))
export const zoneChoice = signal<ZoneChoice>(
  oneOf(zones, new URLSearchParams(location.search).get('zone') ?? kept('zone')),
)
export const hasLetterKeys = signal(kept('letter-keys') !== 'off')

export const localZone = Intl.DateTimeFormat().resolvedOptions().timeZone

effect(() => {
  document.documentElement.dataset.theme = theme.value
  keep('theme', theme.value)
})
effect(() => keep('zone', zoneChoice.value))
effect(() => keep('letter-keys', hasLetterKeys.value ? 'on' : 'off'))

export function nextTheme(): void {
  theme.value = themes[(themes.indexOf(theme.value) + 1) % themes.length]!
}

export function nextZone(): void {
  zoneChoice.value = zones[(zones.indexOf(zoneChoice.value) + 1) % zones.length]!
}

/** The zone a moment is shown in; a job without one of its own counts in UTC. */
export function zoneFor(jobZone: string | null): string {
  switch (zoneChoice.value) {
    case 'local':
      return localZone
    case 'job':
      return jobZone ?? 'UTC'
    case 'utc':
      return 'UTC'
  }
}
