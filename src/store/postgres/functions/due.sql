-- When the next job of the given queues and handlers falls due. Of more than 64 ready jobs the earliest
-- is not sought: that one of them is due says enough.

create function carillon.due(p_queues text[], p_handlers text[], p_is_timed boolean)
returns bigint
language plpgsql as $$
#variable_conflict use_column
begin
  return (select min(least(
          (select m.at from carillon.moments m where m.what = 0 and m.line = l.id
              order by m.at limit 1),
          case when not p_is_timed then (select min(r.at) from (
              select m.at from carillon.moments m where m.what = 1 and m.line = l.id
              limit 64) r) end))
      from unnest(p_queues, p_handlers) g (queue, handler)
      join carillon.lines l on l.queue = g.queue and l.handler = g.handler
      where not exists (select 1 from carillon.queues q where q.queue = g.queue and q.paused));
end $$;
