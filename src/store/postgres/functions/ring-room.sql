-- Weight and room of a tenant or lane; without rules everyone has weight 1 and no cap.

create function carillon.ring_room(
  p_name text, p_now bigint, p_ruled boolean, p_free boolean, out p_weight int, out p_open int
)
returns record
language plpgsql as $$
#variable_conflict use_column
begin
  p_weight := 1;
  p_open := 2147483647;
  if p_ruled and not p_free then
    select r.p_weight, r.p_open into p_weight, p_open from carillon.lane_room(p_name, p_now) r;
  end if;
end $$;
