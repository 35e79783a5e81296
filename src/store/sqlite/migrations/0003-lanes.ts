// What lanes with rules have used up. The rules themselves are records.

import type { Migration } from './migration.ts'

export const lanes: Migration = {
  version: 3,
  up: [
    `alter table queues add column taken integer not null default 0`,
    `create table capped (
      lane text not null, seq integer not null, token text not null, primary key (lane, seq)
    ) without rowid`,
    `create table rates (lane text primary key, whole_at real not null) without rowid`,
  ],
  down: ['drop table rates', 'drop table capped', 'alter table queues drop column taken'],
}
