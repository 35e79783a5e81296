// A store of an older version, met by a program that only looks: bringing it up to date is for starts and for
// people who ask for it.

import { SchedulerError } from '../../core/errors.ts'

export interface OlderStore {
  readonly place: string
  readonly version: number
  readonly latest: number
}

export function olderError({ place, version, latest }: OlderStore): SchedulerError {
  return new SchedulerError(
    'STORE_OLDER',
    `${place} has schema version ${version}, this program needs ${latest}: run "carillon migrate up", ` +
      'or start a node of this program',
    { details: { version, needed: latest } },
  )
}

/** A store of the layout before the relational one: it is moved over once. */
export function upgradeNeeded(place: string, version: number): SchedulerError {
  return new SchedulerError(
    'STORE_OLDER',
    `${place} has schema version ${version}, the layout of an earlier Carillon: stop every node, make a ` +
      'backup with that program, then run "carillon migrate up" once',
    { details: { version } },
  )
}
