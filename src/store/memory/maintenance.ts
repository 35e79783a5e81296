// The memory store as a whole. It ends with its process: there is nothing to migrate or back up.

import { SchedulerError } from '../../core/errors.ts'
import type { Maintenance } from '../maintenance.ts'
import { dump } from './dump.ts'
import { load } from './load.ts'
import { emptyRows, type Rows } from './rows.ts'

const VERSION = 1

/** `open` answers with the rows, or throws while the store is closed. */
export function memoryMaintenance(rows: Rows, open: () => Rows): Maintenance {
  return {
    latest: VERSION,
    backup: null,
    version: async () => VERSION,
    migrate: async to => {
      if (to === VERSION) return
      throw new SchedulerError('SETTINGS_INVALID', 'a memory store has one version only')
    },
    drop: async () => void Object.assign(rows, emptyRows()),
    dump: async request => dump(open(), request),
    load: async entries => load(open(), entries),
    inspect: async () => [],
    repair: async () => {},
    countOlderThan: async () => null,
    deleteOlderThan: async () => 0,
  }
}
