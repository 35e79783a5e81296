// E7: what is declared against what is stored.

import { describe, expect, test } from 'vitest'
import { spec, T0 } from '../../../tests/support/builders.ts'
import { claimed, cron, every } from '../../../tests/support/pure.ts'
import { cancelJob } from '../control/control.ts'
import { compareGenerations } from './generation.ts'
import { createJob } from '../create.ts'
import type { Job } from '../job.ts'
import { reconcile, type Declaration, type Orphans, type Reconciliation } from './reconcile.ts'
import type { JobSpec } from '../spec.ts'
import { HOUR, MINUTE } from '../time.ts'

function declare(id: string, over: Partial<JobSpec> = cron('0 * * * *'), generation = '1') {
  const declared = { app: 'app', definition: id, key: '', generation }
  return { id, spec: spec(over), declared } satisfies Declaration
}

function store(...declarations: Declaration[]): Job[] {
  return declarations.map(declaration => createJob(declaration, T0))
}

interface Given {
  readonly generation?: string
  readonly orphans?: Orphans
  readonly now?: number
}

function plan(declarations: Declaration[], stored: Job[], given: Given = {}): Reconciliation {
  const { generation = '1', orphans = 'archive', now = T0 + HOUR } = given
  return reconcile({ declarations, stored, generation, orphans }, now)
}

const kinds = ({ differences }: Reconciliation) => differences.map(({ kind, id }) => [kind, id])

describe('declared and stored', () => {
  test('new ones are made, equal ones are left alone without a word', () => {
    const both = plan([declare('a'), declare('b')], store(declare('a')))
    expect(both.inserts.map(job => job.id)).toEqual(['b'])
    expect(both.changes).toEqual([])
    expect(kinds(both)).toEqual([['added', 'b']])
    expect(plan([declare('a')], store(declare('a')))).toMatchObject({ differences: [] })
  })

  test('a change says field, from and to, and never fires for the past', () => {
    const made = plan([declare('a', cron('*/7 * * * *'))], store(declare('a')), {
      now: T0 + 90 * MINUTE,
    })
    expect(made.differences).toMatchObject([
      { kind: 'changed', fields: [{ field: 'trigger', from: {}, to: {} }] },
    ])
    expect(made.changes[0]?.job.dueAt).toBe(T0 + 95 * MINUTE)
    expect(made.changes[0]?.skips).toMatchObject([{ reason: 'edited', count: 1 }])
  })

  test('equal meaning with other spacing is not a change', () => {
    const made = plan([declare('a', cron('0   *  * * *'))], store(declare('a')))
    expect(kinds(made)).toEqual([])
    expect(made.changes).toEqual([])
  })

  test.each<[Orphans, unknown[], number, string[]]>([
    ['archive', [['archived', 'b']], 1, []],
    ['forget', [['forgotten', 'b']], 0, ['b']],
    ['keep', [['kept', 'b']], 0, []],
  ])('what is no longer declared: %s', (orphans, differences, changes, removes) => {
    const made = plan([declare('a')], store(declare('a'), declare('b')), { orphans })
    expect(kinds(made)).toEqual(differences)
    expect(made.changes).toHaveLength(changes)
    expect(made.removes).toEqual(removes.map(id => ({ id, expectedVersion: 1 })))
  })

  test('a new generation alone is a stamp: told to nobody and bound to nothing else', () => {
    const made = plan([declare('a', undefined, '2')], store(declare('a')), { generation: '2' })
    expect(made).toMatchObject({ inserts: [], changes: [], removes: [], differences: [] })
    expect(made.stamps.map(({ job }) => job.declared?.generation)).toEqual(['2'])
  })

  test('a running orphan is ended with its attempt', () => {
    const [job] = store(declare('a'))
    const made = plan([], [claimed(job!, T0 + HOUR)])
    expect(made.changes[0]).toMatchObject({
      job: { state: 'cancelled', ended: { reason: 'archived' }, lease: null },
      attempt: { outcome: 'cancelled' },
    })
  })

  test('one declared again starts afresh and keeps its numbers', () => {
    const [archived] = plan([], store(declare('a'))).changes.map(change => change.job)
    const counted = { ...archived!, counters: { ...archived!.counters, attempts: 7, runs: 5 } }
    const made = plan([declare('a')], [counted], { now: T0 + 5 * HOUR })
    expect(kinds(made)).toEqual([['added', 'a']])
    expect(made.changes[0]?.job).toMatchObject({
      state: 'waiting',
      dueAt: T0 + 6 * HOUR,
      counters: { attempts: 7, runs: 5, concluded: 0 },
    })
  })

  test('what a person cancelled stays cancelled', () => {
    const [job] = store(declare('a'))
    const cancelled = cancelJob(job!, 'by hand', T0).job
    const made = plan([declare('a', cron('5 * * * *'))], [cancelled])
    expect(made).toMatchObject({ changes: [], differences: [], inserts: [] })
  })

  test('one whose window is over is stored as completed', () => {
    const over = declare('a', { ...every(HOUR), startAt: T0 - 9 * HOUR, endAt: T0 })
    const made = plan([over], [])
    expect(made.inserts[0]).toMatchObject({ state: 'completed', dueAt: null })
  })
})

describe('generations', () => {
  test('an older one never wins, nor drops what a newer one declared', () => {
    const stored = store(
      declare('a', cron('5 * * * *'), '10'),
      declare('b', cron('5 * * * *'), '10'),
    )
    const made = plan([declare('a')], stored, { generation: '9' })
    expect(kinds(made)).toEqual([['newer', 'a']])
    expect(made.changes).toEqual([])
    expect(made.removes).toEqual([])
  })

  test('a newer one wins', () => {
    const stored = store(declare('a', cron('5 * * * *'), '9'))
    const made = plan([declare('a', cron('0 * * * *'), '10')], stored, { generation: '10' })
    expect(kinds(made)).toEqual([['changed', 'a']])
    expect(made.changes[0]?.job.declared?.generation).toBe('10')
  })

  test.each([
    ['9', '10', -1],
    ['2026-11-9', '2026-11-15', -1],
    ['v1.10.0', 'v1.9.9', 1],
    ['1', '1', 0],
    ['', '1', -1],
    ['1', '1-hotfix', -1],
    ['a', 'b', -1],
  ])('%j against %j is %i', (a, b, order) => {
    expect(compareGenerations(a, b)).toBe(order)
    expect(compareGenerations(b, a)).toBe(order === 0 ? 0 : -order)
  })
})
