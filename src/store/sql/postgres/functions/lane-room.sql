-- Weight of a lane and how many of its jobs may start now; a free one has weight 1 and no limit.

create function carillon.lane_room(
  p_lane text, p_now bigint, p_is_free boolean, out p_weight int, out p_open int
)
returns record
language plpgsql as $$
#variable_conflict use_column
declare
  v_n int;
  v_rule json;
  v_whole double precision;
begin
  p_weight := 1;
  p_open := 2147483647;
  if p_is_free then
    return;
  end if;
  select r.value::json into v_rule from carillon.records r where r.kind = 'lane'
    and r.key = p_lane and (r.expire_at is null or r.expire_at > p_now);
  if v_rule is null then
    return;
  end if;
  p_weight := coalesce((v_rule ->> 'weight')::int, 1);
  if v_rule ->> 'runningMax' is not null then
    delete from carillon.lane_running c where c.lane = p_lane and not exists (
        select 1 from carillon.job_states j where j.seq = c.job and j.token = c.token);
    select count(*) into v_n from carillon.lane_running c where c.lane = p_lane;
    p_open := greatest(0, (v_rule ->> 'runningMax')::int - v_n);
  end if;
  if v_rule ->> 'count' is not null then
    select x.full_at into v_whole from carillon.lane_rates x where x.lane = p_lane;
    v_n := greatest(0, ceil((coalesce(v_whole, 0) - p_now)
          * (v_rule ->> 'count')::double precision / (v_rule ->> 'perMs')::double precision - 0.001));
    p_open := least(p_open, greatest(0, (v_rule ->> 'count')::int - v_n));
  end if;
end $$;
