-- Removes use of lanes whose jobs ended, and rates whose token bucket is full again.

create function carillon.forget_capped(p_now bigint, p_limit int)
returns void
language plpgsql as $$
#variable_conflict use_column
begin
  delete from carillon.capped c where c.ctid = any (array(
        select o.ctid from carillon.capped o where not exists (
          select 1 from carillon.jobs j where j.seq = o.seq and j.token = o.token) limit p_limit));
  delete from carillon.rates c where c.ctid = any (array(
        select o.ctid from carillon.rates o where o.whole_at <= p_now limit p_limit));
end $$;
