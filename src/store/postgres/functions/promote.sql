-- Delayed jobs whose time has come become ready, the earliest of all lines first. A row that another
-- transaction holds stays as it is.

create function carillon.promote(p_lines int[], p_now bigint, p_max int)
returns void
language plpgsql as $$
#variable_conflict use_column
declare
  v_tids tid[];
begin
  v_tids := array(
    select found.tid from unnest(p_lines) l (line) cross join lateral (
      select m.ctid as tid, m.at, m.seq from carillon.moments m
        where m.what = 0 and m.line = l.line and m.at <= p_now
        order by m.at, m.seq limit p_max) found
    order by found.at, found.seq limit p_max);
  if cardinality(v_tids) > 0 then
    update carillon.moments set what = 1 where ctid = any (array(
      select ctid from carillon.moments where ctid = any (v_tids) and what = 0 and at <= p_now
        for update skip locked));
  end if;
end $$;
