// `carillon tenants`: how many jobs of each are in which state, and who waits longest.

import type { Tenant } from '../../client/index.ts'
import { define, exits } from '../command.ts'
import { whole } from '../numbers.ts'
import type { Column } from '../table.ts'
import { took } from '../times.ts'

type Count = Exclude<keyof Tenant, 'tenant' | 'rule'>

const counted = (key: Count, drop: number): Column<Tenant> => ({
  key,
  title: key.toUpperCase(),
  value: tenant => String(tenant[key]),
  isRight: true,
  drop,
})

const columns: readonly Column<Tenant>[] = [
  { key: 'tenant', title: 'TENANT', value: ({ tenant }) => tenant, min: 10 },
  counted('total', 0),
  counted('waiting', 1),
  counted('running', 0),
  counted('paused', 2),
  counted('failed', 0),
  counted('completed', 4),
  counted('cancelled', 5),
  {
    key: 'waited',
    title: 'OLDEST WAIT',
    value: ({ waited_ms }) => (waited_ms === 0 ? '-' : took(waited_ms)),
    isRight: true,
    drop: 1,
  },
]

export const command = define({
  name: 'tenants',
  group: 'look',
  about: 'jobs and tasks of each tenant by state, and who waits longest',
  flags: [
    { flags: '--limit <n>', about: 'how many (default 50)', parse: whole(1, 100) },
    { flags: '--cursor <text>', about: 'goes on where a page ended' },
  ],
  isTable: true,
  examples: [['carillon tenants', 'who has what, and who waits']],
  run: async (context, _words, flags) => {
    const client = await context.client()
    const query = {
      limit: (flags['limit'] as number | undefined) ?? 50,
      cursor: flags['cursor'] as string | undefined,
    }
    const list = await client.tenants(query, { signal: context.signal })
    if (context.globals.json) context.json(list)
    else context.rows(columns, list.tenants)
    if (list.next_cursor !== null) context.say(`more: --cursor ${list.next_cursor}`)
    return exits.ok
  },
})
