-- Tenants of the lanes that have something ready, from the lane p_from on, in the order of lanes, until
-- p_want of them come behind p_after. One may come twice.

create function carillon.tenants_from(
  p_queue text, p_handlers text[], p_now bigint, p_want int, p_from text, p_after text
)
returns text[]
language plpgsql stable as $$
begin
  return (with recursive heads (lane, n) as (
    select (select m.lane from carillon.job_states m
        where m.ready = 1 and m.queue = p_queue and m.due_at <= p_now and m.lane >= p_from
          and array_position(p_handlers, m.handler) is not null
        order by m.lane limit 1), 0
    union all
    select y.lane, h.n + (split_part(h.lane, '/', 1) > p_after collate "C"
        and split_part(y.lane, '/', 1) <> split_part(h.lane, '/', 1))::int
      from heads h cross join lateral (
        select (select m.lane from carillon.job_states m
            where m.ready = 1 and m.queue = p_queue and m.due_at <= p_now
              and array_position(p_handlers, m.handler) is not null
              and m.lane >= case when position('/' in h.lane) > 0
                then split_part(h.lane, '/', 1) || '0' else h.lane || E'\x01' end
            order by m.lane limit 1) as lane) y
      where h.lane is not null and h.n < p_want
  )
  select coalesce(array_agg(split_part(h.lane, '/', 1)), '{}') from heads h where h.lane is not null);
end $$;
