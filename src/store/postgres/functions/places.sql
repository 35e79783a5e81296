-- Numbers for a queue and handler, and for a tenant there. They never change.

create function carillon.places(
  p_queues text[], p_handlers text[], p_tenants text[], p_kinds smallint[]
)
returns table (line int, share int)
language plpgsql as $$
#variable_conflict use_column
begin
  insert into carillon.lines (queue, handler)
    select distinct g.queue, g.handler from unnest(p_queues, p_handlers) g (queue, handler)
    where not exists (select 1 from carillon.lines l
      where l.queue = g.queue and l.handler = g.handler)
    order by 1, 2
    on conflict do nothing;
  insert into carillon.shares (line, tenant, kind)
    select distinct l.id, g.tenant, g.kind
    from unnest(p_queues, p_handlers, p_tenants, p_kinds) g (queue, handler, tenant, kind)
    join carillon.lines l on l.queue = g.queue and l.handler = g.handler
    where not exists (select 1 from carillon.shares x
      where x.line = l.id and x.tenant = g.tenant and x.kind = g.kind)
    order by 1, 2, 3
    on conflict do nothing;
  return query select l.id, x.id
    from unnest(p_queues, p_handlers, p_tenants, p_kinds)
    with ordinality g (queue, handler, tenant, kind, n)
    join carillon.lines l on l.queue = g.queue and l.handler = g.handler
    join carillon.shares x on x.line = l.id and x.tenant = g.tenant and x.kind = g.kind
    order by g.n;
end $$;
