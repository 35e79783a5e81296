-- Sums up count changes now and then, one transaction at a time. A sum that every claim and settle had
-- to change would make them wait for each other.

create function carillon.fold()
returns void
language plpgsql as $$
#variable_conflict use_column
begin
  if currval('carillon.deltas_seq') % 64 <> 0 then
    return;
  end if;
  if not pg_try_advisory_xact_lock(hashtextextended('carillon.fold', 0)) then
    return;
  end if;
  with gone as (delete from carillon.deltas returning shares, befores, afters, ns),
    moves as (select m.* from gone g,
      unnest(g.shares, g.befores, g.afters, g.ns) m (share, was, becomes, n)),
    parts as (
      select share, was as state, -n as n, case when m.becomes = -2 then n else 0 end as pruned
      from moves m where was >= 0
      union all select share, m.becomes, n, 0 from moves m where m.becomes >= 0
    )
    insert into carillon.tallies as t select share, state, sum(n), sum(pruned) from parts
    group by share, state
    on conflict (share, state) do update set n = t.n + excluded.n,
    pruned = t.pruned + excluded.pruned;
end $$;
