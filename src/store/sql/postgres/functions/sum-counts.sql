-- Adds the changes of counts up now and then, one transaction at a time: a sum that every claim and settle
-- had to change would make them wait for each other.

create function carillon.sum_counts()
returns void
language plpgsql as $$
begin
  if nextval('carillon.count_writes') % 64 <> 0
      or not pg_try_advisory_xact_lock(hashtextextended('carillon.count_changes', 0)) then
    return;
  end if;
  with gone as (delete from carillon.count_changes returning *)
    insert into carillon.job_counts as t
      select tenant, queue, handler, kind, state, sum(count), sum(pruned) from gone
        group by tenant, queue, handler, kind, state
        having sum(count) <> 0 or sum(pruned) <> 0
      on conflict (tenant, queue, handler, kind, state) do update
        set count = t.count + excluded.count, pruned = t.pruned + excluded.pruned;
end $$;
