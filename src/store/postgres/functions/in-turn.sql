-- Rows that are all taken, in the order of the turns they would have: tenants from behind the cursor, the
-- lanes of each from the first.

create function carillon.in_turn(p_tids tid[], p_cursor text)
returns tid[]
language plpgsql stable as $$
begin
  return (select coalesce(array_agg(t.tid order by t.place, t.tenant <= p_cursor collate "C", t.tenant), '{}')
    from (
      select l.tid, l.tenant,
          row_number() over (partition by l.tenant order by l.turn, l.lane) as place
        from (
          select m.ctid as tid, m.lane, split_part(m.lane, '/', 1) as tenant,
              row_number() over (partition by m.lane order by m.rank, m.seq) as turn
            from carillon.moments m where m.ctid = any (p_tids)
        ) l
    ) t);
end $$;
