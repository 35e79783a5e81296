// Keyed records. Writers of one key take turns: a record that is not there yet cannot be held
// otherwise.

import { made } from './made.ts'

const fields = 'kind text, key text, value text, expected bigint, expires bigint, removes boolean'
const given = `json_to_recordset(p_writes) g (${fields})`

const turn = (s: string): string => `
  perform pg_advisory_xact_lock(k.hash) from (
    select distinct hashtextextended(g.kind || ' ' || g.key || ' ${s}', 0) as hash from ${given}
      order by 1) k;`

const version = (s: string, kind: string, key: string): string => `coalesce((
  select r.version from ${s}.records r where r.kind = ${kind} and r.key = ${key}
    and (r.expire_at is null or r.expire_at > p_now)), 0)`

/** Whether all of them may be written as things are now. */
const fit = (s: string): string =>
  made(s, {
    name: 'records_fit_1',
    parameters: 'p_writes json, p_now bigint',
    returns: 'boolean',
    isInner: true,
    body: `
      ${turn(s)}
      return not exists (select 1 from ${given}
        where g.expected is not null and g.expected <> ${version(s, 'g.kind', 'g.key')});`,
  })

/** What was removed or has expired is not there: the next one under its key begins again. */
const putOne = (s: string): string => `
  if w.removes then delete from ${s}.records r where r.kind = w.kind and r.key = w.key;
  else
    insert into ${s}.records as r values (w.kind, w.key, w.value, 1, w.expires)
      on conflict (kind, key) do update set value = excluded.value, expire_at = excluded.expire_at,
        version = case when r.expire_at <= p_now then 1 else r.version + 1 end;
  end if;`

/** Without looking again. */
const put = (s: string): string =>
  made(s, {
    name: 'records_put_1',
    parameters: 'p_writes json, p_now bigint',
    returns: 'void',
    declare: 'w record;',
    isInner: true,
    body: `for w in select * from ${given} loop ${putOne(s)} end loop;`,
  })

/** Each by itself, in the order given. */
const write = (s: string): string =>
  made(s, {
    name: 'records_1',
    parameters: 'p_writes json, p_now bigint',
    returns: 'boolean[]',
    declare: "w record; v_results boolean[] := '{}';",
    body: `
      ${turn(s)}
      for w in select * from ${given} loop
        if w.expected is not null and w.expected <> ${version(s, 'w.kind', 'w.key')} then
          v_results := v_results || false;
        else
          ${putOne(s)}
          v_results := v_results || true;
        end if;
      end loop;
      return v_results;`,
  })

export const recordFunctions = (s: string): string[] => [fit(s), put(s), write(s)]
