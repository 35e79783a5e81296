-- The least name of a tenant, from p_tenant on or behind it, that has something due. In the order of lanes
-- the users of `a` come behind the tenant `a-b`.

create function carillon.next_tenant(
  p_queue text, p_handlers text[], p_now bigint, p_tenant text, p_is_behind boolean
)
returns text
language plpgsql as $$
#variable_conflict use_column
declare
  v_lane text collate "C";
  v_found text collate "C";
  v_name text collate "C";
begin
  if not p_is_behind and (carillon.next_lane(p_queue, p_handlers, p_now, array[p_tenant],
      array[p_tenant || E'\x01'], p_tenant, false) is not null
      or carillon.next_lane(p_queue, p_handlers, p_now, array[p_tenant || '/'], array[p_tenant || '0'],
          p_tenant || '/', false) is not null) then
    return p_tenant;
  end if;
  v_lane := coalesce(carillon.next_lane(p_queue, p_handlers, p_now, array[p_tenant], array[p_tenant || '/'],
      p_tenant, true),
      carillon.next_lane(p_queue, p_handlers, p_now, array[p_tenant || '0'], array[U&'\+10FFFF'],
          p_tenant || '0', false));
  while v_lane is not null and split_part(v_lane, '/', 1) < p_tenant collate "C" loop
    v_name := split_part(v_lane, '/', 1) || '0';
    v_lane := carillon.next_lane(p_queue, p_handlers, p_now, array[v_name], array[U&'\+10FFFF'], v_name, false);
  end loop;
  if v_lane is null then
    return null;
  end if;
  v_found := split_part(v_lane, '/', 1);
  for v_i in 1 .. length(v_found) loop
    v_name := left(v_found, v_i - 1);
    if substr(v_found, v_i, 1) < '/' and v_name > p_tenant collate "C"
      and carillon.next_lane(p_queue, p_handlers, p_now, array[v_name || '/'], array[v_name || '0'],
          v_name || '/', false) is not null then
      return v_name;
    end if;
  end loop;
  return v_found;
end $$;
