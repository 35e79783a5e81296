-- Whether all records may be written as things are now. Writers of one key take turns: a record that
-- does not exist yet cannot be locked otherwise.

create function carillon.records_fit(p_writes json, p_now bigint)
returns boolean
language plpgsql as $$
#variable_conflict use_column
begin
  perform pg_advisory_xact_lock(k.hash) from (
      select distinct hashtextextended(g.kind || ' ' || g.key || ' carillon.records', 0) as hash
          from json_to_recordset(p_writes) g (kind text, key text, value text, expected bigint,
          expires bigint, removes boolean)
      order by 1) k;
  return not exists (select 1 from json_to_recordset(p_writes) g (kind text, key text, value text,
      expected bigint, expires bigint, removes boolean)
      where g.expected is not null and g.expected <> coalesce((
          select r.version from carillon.records r where r.kind = g.kind and r.key = g.key
          and (r.expire_at is null or r.expire_at > p_now)), 0));
end $$;
