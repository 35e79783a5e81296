-- The first p_want tenants that have something ready, in the order of names from behind p_cursor on, and
-- around. Lanes are skipped through: the lane of a tenant sorts before those of its users, but
-- tenants such as `a-b` sort between them.

create function carillon.tenants_due(
  p_queue text, p_handlers text[], p_now bigint, p_want int, p_cursor text
)
returns text[]
language plpgsql stable as $$
declare
  v_ahead text[] := carillon.tenants_from(
    p_queue, p_handlers, p_now, p_want, p_cursor || E'\x01', p_cursor);
  v_all text[] := v_ahead;
begin
  if p_cursor <> '' and p_want > (
      select count(distinct t.name) from unnest(v_ahead) t (name)
        where t.name > p_cursor collate "C") then
    v_all := v_ahead || carillon.tenants_from(p_queue, p_handlers, p_now, p_want, '', '');
  end if;
  -- Where the scan ended early, a tenant that only its users make known may come later than its name.
  if cardinality(v_all) >= p_want then
    v_all := v_all || array(
      select p.name from (
        select distinct left(t.name, i - 1) as name
          from unnest(v_all) t (name), generate_series(2, length(t.name)) i
          where substr(t.name, i, 1) < '/' collate "C") p
      where (select 1 from carillon.job_states m
        where m.ready = 1 and m.queue = p_queue and m.due_at <= p_now
          and array_position(p_handlers, m.handler) is not null
          and m.lane >= (p.name || '/') collate "C" and m.lane < (p.name || '0') collate "C" limit 1) is not null);
  end if;
  return array(
    select d.name from (select distinct t.name from unnest(v_all) t (name)) d
      order by d.name <= p_cursor collate "C", d.name collate "C" limit p_want);
end $$;
