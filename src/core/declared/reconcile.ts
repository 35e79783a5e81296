// Makes stored jobs match the declared ones: pure comparison, one readable difference.

import type { Bundle } from '../stored/bundle.ts'
import type { Change, Removal } from '../change.ts'
import { archiveJob } from '../control/control.ts'
import { isDamaged } from '../stored/damage.ts'
import { editJob, reviveJob, specChanges, type FieldChange } from '../control/edit.ts'
import type { Declared, Job } from '../job.ts'
import { createJob } from '../create.ts'
import { assertSpec } from '../spec/spec-check.ts'
import type { JobSpec } from '../spec.ts'
import type { Instant } from '../time.ts'
import { describeTrigger } from '../schedule/trigger.ts'
import { isDroppable, isOfNewerGeneration } from './undeclared.ts'

export interface Declaration {
  readonly id: string
  readonly spec: JobSpec
  readonly declared: Declared
}

export type Orphans = 'archive' | 'forget' | 'keep'

/** What becomes of a stored job that is not declared here: its `orphans` at once, later, or nothing. */
export type Undeclared = 'drop' | 'later' | 'leave'

export interface Difference {
  readonly kind: 'added' | 'changed' | 'archived' | 'forgotten' | 'kept' | 'newer' | 'undeclared'
  readonly id: string
  readonly name: string
  readonly schedule: string
  readonly fields: readonly FieldChange[]
}

/** What is written together: a part of it alone would be nobody's set of jobs. */
export interface Reconciliation extends Bundle {
  /** Only who declared the job last; each may be written by itself. */
  readonly stamps: readonly Change[]
  readonly differences: readonly Difference[]
}

export interface ReconcileInput {
  readonly declarations: readonly Declaration[]
  /** Every stored job that carries the same owner label; those added by calls are left alone. */
  readonly stored: readonly Job[]
  readonly generation: string
  readonly orphans: Orphans
  /** Drops every one at once unless given. */
  readonly undeclared?: (job: Job) => Undeclared
  /** A process that only enqueues adds what is missing and changes nothing. */
  readonly isProducer?: boolean
}

export function reconcile(input: ReconcileInput, now: Instant): Reconciliation {
  const { declarations, generation } = input
  for (const { spec } of declarations) assertSpec(spec)
  const fromCode = input.stored.filter(job => job.declared?.source !== 'runtime')
  const stored = new Map(fromCode.map(job => [job.id, job]))
  const inserts: Job[] = []
  const changes: Change[] = []
  const removes: Removal[] = []
  const stamps: Change[] = []
  const differences: Difference[] = []
  for (const declaration of declarations) {
    const job = stored.get(declaration.id)
    stored.delete(declaration.id)
    if (!job) {
      inserts.push(createJob(declaration, now))
      differences.push(difference('added', declaration.id, declaration.spec))
    } else if (input.isProducer === true) {
      continue
    } else if (isOfNewerGeneration(job, generation)) {
      differences.push(difference('newer', job.id, job.spec))
    } else {
      const step = matched(job, declaration, now)
      if (step.change) (step.difference ? changes : stamps).push(step.change)
      if (step.difference) differences.push(step.difference)
    }
  }
  for (const job of input.isProducer === true ? [] : stored.values()) {
    const orphan = dropped(job, input, now)
    if (!orphan) continue
    if (orphan.change) changes.push(orphan.change)
    if (orphan.difference.kind === 'forgotten') removes.push(removal(job))
    differences.push(orphan.difference)
  }
  return { inserts, changes, removes, stamps, differences }
}

function removal({ id, version }: Job): Removal {
  return { id, expectedVersion: version }
}

interface Matched {
  readonly change: Change | null
  readonly difference: Difference | null
}

function matched(job: Job, { id, spec, declared }: Declaration, now: Instant): Matched {
  if (isArchived(job) || isDamaged(job)) {
    return {
      change: reviveJob(job, spec, declared, now),
      difference: difference('added', id, spec),
    }
  }
  // A cancelled job stays cancelled: a person ended it, and a deploy is no reason to undo that.
  if (job.state === 'cancelled') return { change: null, difference: null }
  const fields = specChanges(job.spec, spec)
  return {
    change: editJob(job, spec, now, declared),
    difference: fields.length > 0 ? difference('changed', id, spec, fields) : null,
  }
}

function dropped(job: Job, input: ReconcileInput, now: Instant) {
  if (isOfNewerGeneration(job, input.generation)) return null
  const fate = input.undeclared?.(job) ?? 'drop'
  if (fate === 'leave') return null
  switch (input.orphans) {
    case 'keep':
      return { change: null, difference: difference('kept', job.id, job.spec) }
    case 'forget':
      if (fate === 'later') return later(job)
      return { change: null, difference: difference('forgotten', job.id, job.spec) }
    case 'archive':
      if (!isDroppable(job)) return null
      if (fate === 'later') return later(job)
      return {
        change: archiveJob(job, now),
        difference: difference('archived', job.id, job.spec),
      }
  }
}

function later(job: Job) {
  return { change: null, difference: difference('undeclared', job.id, job.spec) }
}

function isArchived(job: Job): boolean {
  return job.ended?.reason === 'archived'
}

function difference(
  kind: Difference['kind'],
  id: string,
  spec: JobSpec,
  fields: readonly FieldChange[] = [],
): Difference {
  return { kind, id, name: spec.name, schedule: describeTrigger(spec.trigger), fields }
}
