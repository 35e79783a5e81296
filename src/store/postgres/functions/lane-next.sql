-- The first lane from p_lane on, or behind it, that has something due in one of the spans.
-- Nothing sorts between a text and the same text followed by U+0001.

create function carillon.lane_next(
  p_lines int[], p_now bigint, p_from text[], p_until text[], p_lane text, p_behind boolean
)
returns text
language plpgsql as $$
#variable_conflict use_column
declare
  v_bound text collate "C" := case when p_behind then p_lane || E'\x01' else p_lane end;
  v_lane text;
begin
  select min(f.lane) into v_lane from unnest(p_from, p_until) g (a, b)
    cross join unnest(p_lines) l (line) cross join lateral (
      select m.lane from carillon.moments m
      where m.what = 1 and m.line = l.line and m.at <= p_now
      and m.lane >= greatest(g.a collate "C", v_bound) and m.lane < g.b collate "C"
      order by m.lane limit 1) f
    where g.b collate "C" > v_bound;
  return v_lane;
end $$;
