-- Keeps a turn for 30 days.

create function carillon.keep_turn(p_key text, p_lane text, p_taken int, p_now bigint)
returns void
language plpgsql as $$
#variable_conflict use_column
begin
  insert into carillon.records as r values ('turn', p_key,
      json_build_object('lane', p_lane, 'taken', p_taken)::text, 1, p_now + 2592000000)
    on conflict (kind, key) do update set value = excluded.value,
    expire_at = excluded.expire_at, version = r.version + 1;
end $$;
