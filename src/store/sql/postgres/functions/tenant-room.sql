-- Weight of a tenant and how many of its jobs may start now. p_most is what it may hold at most of one node,
-- p_held what each tenant holds already.

create function carillon.tenant_room(
  p_tenant text, p_now bigint, p_most int, p_held jsonb, out p_weight int, out p_open int
)
returns record
language plpgsql as $$
begin
  select r.p_weight, r.p_open into p_weight, p_open
    from carillon.lane_room(p_tenant, p_now, false) r;
  if p_most is not null then
    p_open := least(p_open, greatest(0, p_most - coalesce((p_held ->> p_tenant)::int, 0)));
  end if;
end $$;
