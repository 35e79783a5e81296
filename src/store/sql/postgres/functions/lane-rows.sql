-- The next jobs of a lane in the order of rank, behind the given one.

create function carillon.lane_rows(
  p_queue text, p_handlers text[], p_now bigint, p_lane text, p_rank bigint, p_seq bigint,
  p_count int, out p_seqs bigint[], out p_last_rank bigint, out p_last_seq bigint
)
returns record
language plpgsql stable as $$
begin
  with found as (
      select m.rank, m.seq from carillon.job_states m
        where m.ready = 1 and m.queue = p_queue and m.lane = p_lane and m.due_at <= p_now
          and array_position(p_handlers, m.handler) is not null
          and (m.rank, m.seq) > (p_rank, p_seq)
        order by m.rank, m.seq limit p_count
    ) select coalesce(array_agg(f.seq order by f.rank, f.seq), '{}'), max(f.rank),
    (array_agg(f.seq order by f.rank desc, f.seq desc))[1]
    into p_seqs, p_last_rank, p_last_seq from found f;
end $$;
