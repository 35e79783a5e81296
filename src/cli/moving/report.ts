// What an import did or would do, one line for each job and each thing to look at.

import type { Reconciliation } from '../../client/index.ts'
import type { Found, FoundJob, Note } from '../../move/found.ts'
import { cut, safe, widthOf } from '../screen.ts'

export interface Row {
  readonly kind: Reconciliation['differences'][number]['kind'] | 'unchanged'
  readonly id: string
  readonly line: number | null
  readonly name: string
  /** Null for what an import before has left. */
  readonly job: FoundJob | null
  readonly fields: readonly string[]
}

const marks: Readonly<Record<Row['kind'], string>> = {
  added: '+',
  changed: '~',
  unchanged: '=',
  archived: '-',
  forgotten: '-',
  kept: '?',
  newer: '?',
}

const TEXT_MAX = 60

export function report({ notes }: Found, rows: readonly Row[]): string {
  const cells = rows.map(row => [marks[row.kind], row.name, ...wordsOf(row)].map(safe))
  const widths = [0, 1, 2].map(i => Math.max(0, ...cells.map(cell => widthOf(cell[i] ?? ''))))
  const lines = cells.map(cell => {
    const padded = cell.map(
      (text, i) => text + ' '.repeat(Math.max(0, (widths[i] ?? 0) - widthOf(text))),
    )
    return `  ${padded.join('  ')}`.trimEnd()
  })
  return [...lines, ...notes.map(noteLine)].join('\n')
}

function wordsOf({ kind, job, line, fields }: Row): string[] {
  if (job === null) {
    return [kind === 'archived' ? 'archived: no longer there' : 'no longer there, and still stored']
  }
  if (kind === 'unchanged') return [`line ${line}`, 'already imported (unchanged)']
  if (kind === 'changed') return [scheduleOf(job), `changes ${fields.join(', ')}`]
  if (kind === 'newer') return ['a newer generation is stored']
  return [scheduleOf(job), cut(workOf(job), TEXT_MAX)]
}

function scheduleOf({ body: { trigger } }: FoundJob): string {
  if (trigger === undefined) return ''
  if ('cron' in trigger) return `${trigger.cron} ${trigger.timezone ?? 'UTC'}`
  if ('every' in trigger) {
    const every = typeof trigger.every === 'number' ? `${trigger.every / 1_000}s` : trigger.every
    return `every ${every}${trigger.from === undefined ? '' : ` from the ${trigger.from}`}`
  }
  return 'at' in trigger ? `once ${trigger.at}` : 'only when asked'
}

function workOf({ body: { action } }: FoundJob): string {
  const { shell, argv } = (action ?? {}) as { shell?: string; argv?: readonly string[] }
  return shell ?? (argv?.[1] === '-c' ? argv[2] : argv?.join(' ')) ?? ''
}

function noteLine({ line, text }: Note): string {
  return safe(`  ! line ${line}  ${text}`)
}

/** `2 to add, 1 unchanged, 2 need attention.` */
export function summary({ notes }: Found, rows: readonly Row[], isDryRun: boolean): string {
  const count = (kind: Row['kind']) => rows.filter(row => row.kind === kind).length
  const parts = [
    [count('added'), isDryRun ? 'to add' : 'added'],
    [count('changed'), isDryRun ? 'to change' : 'changed'],
    [count('unchanged'), 'unchanged'],
    [count('archived'), isDryRun ? 'to archive' : 'archived'],
    [count('kept'), 'no longer there (--prune archives them)'],
    [notes.length, notes.length === 1 ? 'needs attention' : 'need attention'],
  ] as const
  const told = parts.filter(([n, words]) => n > 0 || words.endsWith('add') || words === 'added')
  const text = told.map(([n, words]) => `${n} ${words}`).join(', ')
  return `${text}.${isDryRun ? ' Apply: drop --dry-run' : ''}`
}
