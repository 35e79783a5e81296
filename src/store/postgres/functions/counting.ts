// Moves between states are written as they happen and summed up now and then, by whoever is at it
// and never by two: a sum that every claim and settle had to change would make them wait in line.

import { made } from './made.ts'

const FOLD_EVERY = 64

/** After a write that left a delta. */
const fold = (s: string): string =>
  made(s, {
    name: 'fold_1',
    parameters: '',
    returns: 'void',
    isInner: true,
    body: `
      if currval('${s}.deltas_seq') % ${FOLD_EVERY} <> 0 then return; end if;
      if not pg_try_advisory_xact_lock(hashtextextended('carillon fold ${s}', 0)) then return; end if;
      with gone as (delete from ${s}.deltas returning shares, befores, afters, ns),
      moves as (select m.* from gone g,
        unnest(g.shares, g.befores, g.afters, g.ns) m (share, was, becomes, n)),
      parts as (
        select share, was as state, -n as n, case when m.becomes = -2 then n else 0 end as pruned
          from moves m where was >= 0
        union all select share, m.becomes, n, 0 from moves m where m.becomes >= 0
      )
      insert into ${s}.tallies as t select share, state, sum(n), sum(pruned) from parts
        group by share, state
        on conflict (share, state) do update set n = t.n + excluded.n,
          pruned = t.pruned + excluded.pruned;`,
  })

/** Numbers for a tenant's share of a line, given once and for good. */
const places = (s: string): string =>
  made(s, {
    name: 'places_1',
    parameters: 'p_queues text[], p_handlers text[], p_tenants text[], p_kinds smallint[]',
    returns: 'table (line int, share int)',
    body: `
      insert into ${s}.lines (queue, handler)
        select distinct g.queue, g.handler from unnest(p_queues, p_handlers) g (queue, handler)
          where not exists (select 1 from ${s}.lines l
            where l.queue = g.queue and l.handler = g.handler)
          order by 1, 2
        on conflict do nothing;
      insert into ${s}.shares (line, tenant, kind)
        select distinct l.id, g.tenant, g.kind
          from unnest(p_queues, p_handlers, p_tenants, p_kinds) g (queue, handler, tenant, kind)
          join ${s}.lines l on l.queue = g.queue and l.handler = g.handler
          where not exists (select 1 from ${s}.shares x
            where x.line = l.id and x.tenant = g.tenant and x.kind = g.kind)
          order by 1, 2, 3
        on conflict do nothing;
      return query select l.id, x.id
        from unnest(p_queues, p_handlers, p_tenants, p_kinds)
          with ordinality g (queue, handler, tenant, kind, n)
        join ${s}.lines l on l.queue = g.queue and l.handler = g.handler
        join ${s}.shares x on x.line = l.id and x.tenant = g.tenant and x.kind = g.kind
        order by g.n;`,
  })

/** So far below its bound, no set of writers in flight can fill a queue: it need not be guarded. */
const UNGUARDED_ROOM = 100_000

/**
 * How many jobs each queue still takes. From here on nobody else fills them: whoever is near the
 * bound holds the row of the queue until it is done.
 */
const room = (s: string): string =>
  made(s, {
    name: 'room_1',
    parameters: 'p_queues text[], p_max bigint',
    returns: 'bigint[]',
    declare: 'v_room bigint[]; v_round int;',
    isInner: true,
    body: `
      for v_round in 1 .. 2 loop
        v_room := array(select p_max - coalesce((select sum(c.n) from ${s}.lines l
            join ${s}.shares x on x.line = l.id join ${s}.counted c on c.share = x.id
            where l.queue = q.queue and c.state = 0), 0)
          from unnest(p_queues) with ordinality q (queue, n) order by q.n);
        exit when v_round = 2 or ${UNGUARDED_ROOM} <= all (v_room);
        insert into ${s}.queues (queue) select q from unnest(p_queues) q order by q collate "C"
          on conflict do nothing;
        perform 1 from ${s}.queues q where q.queue = any (p_queues) order by q.queue for update;
      end loop;
      return v_room;`,
  })

export const countingFunctions = (s: string): string[] => [fold(s), places(s), room(s)]
