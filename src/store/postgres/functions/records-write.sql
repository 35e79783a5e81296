-- Writes each record by itself, in the order given, if its version is the expected one.

create function carillon.records_write(p_writes json, p_now bigint)
returns boolean[]
language plpgsql as $$
#variable_conflict use_column
declare
  w record;
  v_results boolean[] := '{}';
begin
  perform pg_advisory_xact_lock(k.hash) from (
      select distinct hashtextextended(g.kind || ' ' || g.key || ' carillon.records', 0) as hash
          from json_to_recordset(p_writes) g (kind text, key text, value text, expected bigint,
          expires bigint, removes boolean)
      order by 1) k;
  for w in select * from json_to_recordset(p_writes) g (kind text, key text, value text,
      expected bigint, expires bigint, removes boolean) loop
    if w.expected is not null and w.expected <> coalesce((
          select r.version from carillon.records r where r.kind = w.kind and r.key = w.key
          and (r.expire_at is null or r.expire_at > p_now)), 0) then
      v_results := v_results || false;
    else
      if w.removes then
        delete from carillon.records r where r.kind = w.kind and r.key = w.key;
      else
        insert into carillon.records as r values (w.kind, w.key, w.value, 1, w.expires)
          on conflict (kind, key) do update set value = excluded.value,
              expire_at = excluded.expire_at,
          version = case when r.expire_at <= p_now then 1 else r.version + 1 end;
      end if;
      v_results := v_results || true;
    end if;
  end loop;
  return v_results;
end $$;
