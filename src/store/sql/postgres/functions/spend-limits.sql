-- Counts claimed jobs against the limits of their lane and of its tenant.

create function carillon.spend_limits(p_seqs bigint[], p_lanes text[], p_token text, p_now bigint)
returns void
language plpgsql as $$
declare
  v_one record;
  v_rule json;
  v_cost double precision;
begin
  for v_one in select k.name, array_agg(k.seq) as seqs from (
      select o.lane as name, o.seq from unnest(p_seqs, p_lanes) o (seq, lane)
      union all
      select split_part(o.lane, '/', 1), o.seq from unnest(p_seqs, p_lanes) o (seq, lane)
      where position('/' in o.lane) > 0
    ) k group by k.name loop
    select r.value::json into v_rule from carillon.records r where r.kind = 'lane'
      and r.key = v_one.name and (r.expire_at is null or r.expire_at > p_now);
    continue when not found;
    if v_rule ->> 'count' is not null then
      v_cost := cardinality(v_one.seqs) * (v_rule ->> 'perMs')::double precision
        / (v_rule ->> 'count')::int;
      insert into carillon.lane_rates as x values (v_one.name, p_now + v_cost)
        on conflict (lane) do update set full_at = greatest(x.full_at, p_now) + v_cost;
    end if;
    if v_rule ->> 'runningMax' is not null then
      insert into carillon.lane_running select v_one.name, g.seq, p_token
        from unnest(v_one.seqs) g (seq)
        on conflict (lane, job) do update set token = excluded.token;
    end if;
  end loop;
end $$;
