-- Writes records without checking their versions.

create function carillon.records_put(p_writes json, p_now bigint)
returns void
language plpgsql as $$
#variable_conflict use_column
declare
  w record;
begin
  for w in select * from json_to_recordset(p_writes) g (kind text, key text, value text,
      expected bigint, expires bigint, removes boolean) loop
    if w.removes then
      delete from carillon.records r where r.kind = w.kind and r.key = w.key;
    else
      insert into carillon.records as r values (w.kind, w.key, w.value, 1, w.expires)
        on conflict (kind, key) do update set value = excluded.value,
            expire_at = excluded.expire_at,
        version = case when r.expire_at <= p_now then 1 else r.version + 1 end;
    end if;
  end loop;
end $$;
