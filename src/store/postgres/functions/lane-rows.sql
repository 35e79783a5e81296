-- The next jobs of a lane in the order of rank, behind the given one.

create function carillon.lane_rows(
  p_lines int[], p_now bigint, p_lane text, p_rank bigint, p_seq bigint, p_count int,
  out p_tids tid[], out p_last_rank bigint, out p_last_seq bigint
)
returns record
language plpgsql as $$
#variable_conflict use_column
begin
  with found as (
      select x.tid, x.rank, x.seq from unnest(p_lines) l (line) cross join lateral (
        select m.ctid as tid, m.rank, m.seq from carillon.moments m
        where m.what = 1 and m.line = l.line and m.lane = p_lane and m.at <= p_now
        and (m.rank, m.seq) > (p_rank, p_seq)
        order by m.rank, m.seq limit p_count) x
      order by x.rank, x.seq limit p_count
    ) select coalesce(array_agg(f.tid order by f.rank, f.seq), '{}'), max(f.rank),
    (array_agg(f.seq order by f.rank desc, f.seq desc))[1]
    into p_tids, p_last_rank, p_last_seq from found f;
end $$;
