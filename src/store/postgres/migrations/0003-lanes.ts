// What lanes with rules have used up, and claims that ask for it. The rules themselves are records.

import { ruledFunctions } from '../functions/ruled.ts'
import type { Migration } from './migration.ts'

const key = 'text collate "C"'

export const lanes: Migration = {
  version: 3,
  up: s => [
    `alter table ${s}.queues add column taken int not null default 0`,
    `create table ${s}.capped (
      lane ${key} not null, seq bigint not null, token ${key} not null, primary key (lane, seq)
    )`,
    `create table ${s}.rates (lane ${key} primary key, whole_at double precision not null)`,
    ...ruledFunctions(s),
  ],
  down: s => [
    `drop function ${s}.forget_capped_1`,
    `drop function ${s}.claim_ruled_1`,
    `drop function ${s}.lane_rows_1`,
    `drop function ${s}.lane_room_1`,
    `drop function ${s}.lane_next_1`,
    `drop table ${s}.rates`,
    `drop table ${s}.capped`,
    `alter table ${s}.queues drop column taken`,
  ],
}
