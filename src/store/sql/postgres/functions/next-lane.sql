-- The first lane from p_lane on, or behind it, that has something due in one of the spans.
-- Nothing sorts between a text and the same text followed by U+0001.

create function carillon.next_lane(
  p_queue text, p_handlers text[], p_now bigint, p_from text[], p_until text[], p_lane text,
  p_is_behind boolean
)
returns text
language plpgsql stable as $$
declare
  v_bound text collate "C" := case when p_is_behind then p_lane || E'\x01' else p_lane end;
begin
  return (select min(f.lane) from unnest(p_from, p_until) g (a, b)
    cross join lateral (
      select m.lane from carillon.job_states m
        where m.ready = 1 and m.queue = p_queue and m.due_at <= p_now
          and array_position(p_handlers, m.handler) is not null
          and m.lane >= greatest(g.a collate "C", v_bound) and m.lane < g.b collate "C"
        order by m.lane limit 1) f
    where g.b collate "C" > v_bound);
end $$;
