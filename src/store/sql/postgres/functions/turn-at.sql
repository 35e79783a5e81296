-- The turn kept under a key.

create function carillon.turn_at(p_key text, p_now bigint, out p_lane text, out p_taken int)
returns record
language plpgsql as $$
#variable_conflict use_column
begin
  select coalesce(r.value::json ->> 'lane', ''), coalesce((r.value::json ->> 'taken')::int, 0)
    into p_lane, p_taken from carillon.records r
    where r.kind = 'turn' and r.key = p_key
    and (r.expire_at is null or r.expire_at > p_now);
  if not found then
    p_lane := '';
    p_taken := 0;
  end if;
end $$;
