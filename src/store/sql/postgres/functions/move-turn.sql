-- Keeps whose turn it was: of the queue the tenant served last, of each tenant with users the lane. The row
-- of the queue is the lock on its turns; where another transaction holds it, the turns stay as it leaves them.

create function carillon.move_turn(p_queue text, p_handlers text[], p_lanes text[], p_now bigint)
returns void
language plpgsql as $$
declare
  v_last text := split_part(p_lanes[cardinality(p_lanes)], '/', 1);
  v_cursor text;
begin
  select q.turn_lane into v_cursor from carillon.queues q where q.queue = p_queue
    for update skip locked;
  if not found then
    -- A row that another claim has changed: an insert would wait for the commit of that claim.
    if (select true from carillon.queues q where q.queue = p_queue) then
      return;
    end if;
    insert into carillon.queues (queue, turn_lane) values (p_queue, v_last) on conflict do nothing;
    if not found then
      return;
    end if;
  elsif v_cursor <> v_last then
    update carillon.queues set turn_lane = v_last where queue = p_queue;
  end if;
  insert into carillon.records as r
    select 'turn', p_queue || E'\n\n' || s.tenant,
        json_build_object('lane', s.lane, 'taken', 1)::text, 1, p_now + 2592000000
      from (
        select split_part(l.lane, '/', 1) as tenant,
            (array_agg(l.lane order by l.n desc))[1] as lane,
            bool_or(position('/' in l.lane) > 0) as has_users
          from unnest(p_lanes) with ordinality l (lane, n) group by 1
      ) s
      where s.has_users or (select 1 from carillon.job_states m
        where m.ready = 1 and m.queue = p_queue and m.due_at <= p_now
          and array_position(p_handlers, m.handler) is not null
          and m.lane >= (s.tenant || '/') collate "C" and m.lane < (s.tenant || '0') collate "C" limit 1) is not null
    on conflict (kind, key) do update set value = excluded.value, expire_at = excluded.expire_at,
      version = r.version + 1;
end $$;
