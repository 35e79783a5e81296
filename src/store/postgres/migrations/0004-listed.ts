// Jobs by mark, for lists by status. An index on `jobs` itself would have every claim and settle
// write to it; a mark changes only when a job starts for the first time, rests or ends.

import { markOf } from '../../shared/marks.ts'
import type { Migration } from './migration.ts'

const keep = (s: string) => `create function ${s}.listed_1() returns trigger language plpgsql as $$
  begin
    if tg_op = 'DELETE' then
      delete from ${s}.listed where seq = old.seq;
    else
      insert into ${s}.listed values (new.seq, new.share, ${markOf('new.')})
        on conflict (seq) do update set share = excluded.share, mark = excluded.mark;
    end if;
    return null;
  end $$`

export const listTrigger = (s: string, event: string, condition: string) =>
  `create trigger listed_${event} after ${event} on ${s}.jobs
    for each row when (${condition}) execute function ${s}.listed_1()`

export const listed: Migration = {
  version: 4,
  up: s => [
    `create table ${s}.listed (seq bigint primary key, share int not null, mark smallint not null)`,
    `insert into ${s}.listed select seq, share, ${markOf('')} from ${s}.jobs where kind = 0`,
    `create index listed_share on ${s}.listed (share, mark, seq)`,
    `create index listed_mark on ${s}.listed (mark, seq)`,
    keep(s),
    listTrigger(s, 'insert', 'new.kind = 0'),
    listTrigger(
      s,
      'update',
      `new.kind = 0 and (old.share <> new.share or (${markOf('old.')}) <> (${markOf('new.')}))`,
    ),
    listTrigger(s, 'delete', 'old.kind = 0'),
  ],
  down: s => [
    ...['insert', 'update', 'delete'].map(event => `drop trigger listed_${event} on ${s}.jobs`),
    `drop function ${s}.listed_1`,
    `drop table ${s}.listed`,
  ],
}
