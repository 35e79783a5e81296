-- How many jobs each queue still takes. Near the bound the rows of the queues are locked until the end of
-- the transaction; 100,000 below it no set of concurrent writers can fill a queue.

create function carillon.room(p_queues text[], p_max bigint)
returns bigint[]
language plpgsql as $$
#variable_conflict use_column
declare
  v_room bigint[];
  v_round int;
begin
  for v_round in 1 .. 2 loop
    v_room := array(select p_max - coalesce((select sum(c.n) from carillon.lines l
            join carillon.shares x on x.line = l.id join carillon.counted c on c.share = x.id
            where l.queue = q.queue and c.state = 0), 0)
        from unnest(p_queues) with ordinality q (queue, n) order by q.n);
    exit when v_round = 2 or 100000 <= all (v_room);
    insert into carillon.queues (queue) select q from unnest(p_queues) q order by q collate "C"
      on conflict do nothing;
    perform 1 from carillon.queues q where q.queue = any (p_queues) order by q.queue for update;
  end loop;
  return v_room;
end $$;
