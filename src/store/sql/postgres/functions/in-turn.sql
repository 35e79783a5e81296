-- Jobs that are all taken, in the order of the turns they would have: tenants from behind the cursor, the
-- lanes of each from the first.

create function carillon.in_turn(p_seqs bigint[], p_cursor text)
returns bigint[]
language plpgsql stable as $$
begin
  return (select coalesce(array_agg(t.seq order by t.place, t.tenant <= p_cursor collate "C", t.tenant), '{}')
    from (
      select l.seq, l.tenant,
          row_number() over (partition by l.tenant order by l.turn, l.lane) as place
        from (
          select m.seq, m.lane, split_part(m.lane, '/', 1) as tenant,
              row_number() over (partition by m.lane order by m.rank, m.seq) as turn
            from carillon.job_states m where m.seq = any (p_seqs)
        ) l
    ) t);
end $$;
