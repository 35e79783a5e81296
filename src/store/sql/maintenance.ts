// Maintenance that is an operation both databases share. It needs an open store.

import type { Maintenance } from '../maintenance.ts'
import { countBefore, deleteBefore } from './aged.ts'
import { dump } from './dump.ts'
import { load } from './load.ts'
import type { SqlWork } from './relational-store.ts'
import { inspect, repair } from './repair.ts'

/** Calls of the open store; they fail while it is closed. */
export interface OpenStoreCalls {
  readonly read: <T>(work: SqlWork<T>) => Promise<T>
  readonly write: <T>(work: SqlWork<T>) => Promise<T>
}

type OfOpenStore = 'dump' | 'load' | 'inspect' | 'repair' | 'countOlderThan' | 'deleteOlderThan'

export function openStoreMaintenance({
  read,
  write,
}: OpenStoreCalls): Pick<Maintenance, OfOpenStore> {
  return {
    dump: request => read(sql => dump(sql, request)),
    load: (entries, now) => write(sql => load(sql, entries, now)),
    inspect: limit => read(sql => inspect(sql, limit)),
    repair: fault => write(sql => repair(sql, fault)),
    countOlderThan: before => read(() => countBefore(before)),
    deleteOlderThan: (before, limit) => write(sql => deleteBefore(sql, before, limit)),
  }
}
