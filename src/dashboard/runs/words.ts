// The words for runs: their states, who asked for them, the phases of their time.

export const runStates = [
  'running',
  'queued',
  'retrying',
  'completed',
  'failed',
  'cancelled',
  'skipped',
] as const

const origins: Readonly<Record<string, string>> = {
  schedule: 'Schedule',
  manual: 'A person',
  retry: 'A retry',
  backfill: 'A backfill',
}

export function originText(origin: string): string {
  return Object.hasOwn(origins, origin) ? origins[origin]! : origin
}

export interface PhaseLook {
  readonly label: string
  readonly about: string
}

const phases: Readonly<Record<string, PhaseLook>> = {
  spread: { label: 'Spread', about: 'jitter of its schedule' },
  waiting: { label: 'Waiting', about: 'from due until a node claimed it' },
  starting: { label: 'Starting', about: 'from claimed until a slot was free' },
  running: { label: 'Running', about: 'the handler at work' },
  backoff: { label: 'Backing off', about: 'between two attempts' },
}

export function phaseLook(phase: string): PhaseLook {
  return phases[phase] ?? { label: phase, about: '' }
}
