// How far a copy is, for people: a bar that moves on a terminal, a line now and then elsewhere.

import type { CopyProgress } from '../copy/copy.ts'
import { entryTypes, type EntryType } from '../core/stored/entry.ts'
import type { Instant } from '../core/time.ts'

export interface ProgressOutput {
  readonly write: (text: string) => void
  readonly isTerminal: boolean
  readonly now: () => Instant
}

const BAR_WIDTH = 24
const REDRAW_MS = 100
/** Without a terminal: a line for every so many percent, or entries while the total is unknown. */
const LINE_PERCENT = 10
const LINE_ENTRIES = 100_000

const words: Readonly<Record<CopyProgress['phase'], string>> = {
  counting: 'counting',
  copying: 'copying',
  checking: 'checking the copy',
  comparing: 'checking the source',
}

export function copyProgress(output: ProgressOutput): {
  readonly tell: (progress: CopyProgress) => void
  readonly end: () => void
} {
  return output.isTerminal ? bar(output) : lines(output)
}

function sum(counts: Readonly<Record<EntryType, number>>): number {
  return entryTypes.reduce((all, type) => all + counts[type], 0)
}

/** The last type anything was done of. */
function current({ done }: CopyProgress): EntryType {
  return entryTypes.findLast(type => done[type] > 0) ?? entryTypes[0]
}

function percentOf(progress: CopyProgress): number | null {
  if (progress.total === null) return null
  const total = sum(progress.total)
  return total === 0 ? 100 : Math.min(100, Math.floor((100 * sum(progress.done)) / total))
}

function counted(progress: CopyProgress): string {
  const type = current(progress)
  const all = sum(progress.done).toLocaleString('en')
  if (progress.total === null) return `${all} entries`
  const of = `${progress.done[type]}/${progress.total[type]}`
  return `${all}/${sum(progress.total).toLocaleString('en')} entries, ${type} ${of}`
}

function bar({ write, now }: ProgressOutput) {
  let drawnAt: Instant = -Infinity
  let phase: CopyProgress['phase'] | null = null
  let last: CopyProgress | null = null
  const draw = (progress: CopyProgress) => {
    const percent = percentOf(progress)
    const full = Math.round(((percent ?? 0) / 100) * BAR_WIDTH)
    const boxes =
      percent === null ? '' : `[${'#'.repeat(full).padEnd(BAR_WIDTH, '.')}] ${percent}% `
    write(`\r\u001b[2K${words[progress.phase]} ${boxes}${counted(progress)}`)
  }
  const close = () => {
    if (last) draw(last)
    if (phase !== null) write('\n')
  }
  const tell = (progress: CopyProgress) => {
    if (progress.phase !== phase) {
      close()
      phase = progress.phase
      drawnAt = -Infinity
    }
    last = progress
    if (now() - drawnAt < REDRAW_MS) return
    drawnAt = now()
    draw(progress)
  }
  return { tell, end: close }
}

function lines({ write }: ProgressOutput) {
  let phase: CopyProgress['phase'] | null = null
  let told = 0
  const tell = (progress: CopyProgress) => {
    const percent = percentOf(progress)
    const step =
      percent === null
        ? Math.floor(sum(progress.done) / LINE_ENTRIES)
        : Math.floor(percent / LINE_PERCENT)
    if (progress.phase === phase && step <= told) return
    phase = progress.phase
    told = step
    write(`${words[phase]} ${percent === null ? '' : `${percent}% `}${counted(progress)}\n`)
  }
  return { tell, end: () => {} }
}
