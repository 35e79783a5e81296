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
