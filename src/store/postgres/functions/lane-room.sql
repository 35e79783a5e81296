-- Weight of a lane and how many of its jobs may start now.

create function carillon.lane_room(
  p_lane text, p_now bigint, out p_weight int, out p_open int, out p_rule json
)
returns record
language plpgsql as $$
#variable_conflict use_column
declare
  v_n int;
  v_whole double precision;
begin
  p_weight := 1;
  p_open := 2147483647;
  select r.value::json into p_rule from carillon.records r where r.kind = 'lane'
    and r.key = p_lane and (r.expire_at is null or r.expire_at > p_now);
  if p_rule is null then
    return;
  end if;
  p_weight := coalesce((p_rule ->> 'weight')::int, 1);
  if p_rule ->> 'runningMax' is not null then
    delete from carillon.capped c where c.lane = p_lane and not exists (
        select 1 from carillon.jobs j where j.seq = c.seq and j.token = c.token);
    select count(*) into v_n from carillon.capped c where c.lane = p_lane;
    p_open := greatest(0, (p_rule ->> 'runningMax')::int - v_n);
  end if;
  if p_rule ->> 'count' is not null then
    select x.whole_at into v_whole from carillon.rates x where x.lane = p_lane;
    v_n := greatest(0, ceil((coalesce(v_whole, 0) - p_now)
          * (p_rule ->> 'count')::double precision / (p_rule ->> 'perMs')::double precision - 0.001));
    p_open := least(p_open, greatest(0, (p_rule ->> 'count')::int - v_n));
  end if;
end $$;
